// Package examples holds the sample files of the first run and what to ask
// about them. README.md has the right answers; generate.py wrote the files.
package examples

import "embed"

// Files holds the sample files by their names.
//
//go:embed sales.csv weather.csv orders.json
var Files embed.FS

// A Prompt is a question that works at once.
type Prompt struct {
	Title  string // a few words for a button
	Prompt string // what is asked
	File   string // name of the sample file it is about
}

// Prompts are the things to try first: a sum, a picture and a clean-up.
var Prompts = []Prompt{
	{
		Title:  "Which region sells most?",
		Prompt: "What is the total revenue per region? Which region has the highest?",
		File:   "sales.csv",
	},
	{
		Title:  "Plot a year of weather",
		Prompt: "Plot the temperature of both cities over the year as two lines with a legend, and save the plot as weather.png.",
		File:   "weather.csv",
	},
	{
		Title: "Clean up messy orders",
		Prompt: "Clean up these orders: drop the duplicate rows, write status in lower case without spaces around it, " +
			"and turn amount into a number (it is text with thousands commas). Save the result as orders_clean.csv and show the total amount per status.",
		File: "orders.json",
	},
}
