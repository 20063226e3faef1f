package agent

import "testing"

func TestLanguage(t *testing.T) {
	for question, want := range map[string]string{
		"Which region has the highest total revenue?":            "",
		"Plot weather.csv":                                       "",
		"Welche Stadt hat die höchste Summe der Preise?":         "German",
		"Quelle est la région avec les ventes les plus hautes ?": "French",
		"¿Cuál es la región con más ventas?":                     "Spanish",
		"Qual é a região com mais vendas e quanto é?":            "Portuguese",
		"Qual è la regione con le vendite più alte?":             "Italian",
		"Какой товар принёс больше всего выручки в sales.csv?":   "Russian",
		"Який товар приніс найбільше?":                           "Ukrainian",
		"sales.csv 里哪个地区的总收入最高？":                                 "Chinese",
		"売上が一番高い地域はどこですか":                                        "Japanese",
		"매출이 가장 높은 지역은 어디입니까?":                                   "Korean",
		"What is the revenue of the product Лампа?":              "",
	} {
		if got := language(question); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}
