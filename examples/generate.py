#!/usr/bin/env python3
"""Writes the sample files into this folder, always the same bytes.

Only random() of the seeded generator is used: Python promises that its
sequence never changes, which it does not for choice() or gauss().
All numbers are invented.
"""

import csv
import json
import math
import pathlib
import random
from datetime import date, timedelta

HERE = pathlib.Path(__file__).parent
YEAR = 2025

# Product and its price in cents.
PRODUCTS = [("Desk lamp", 2490), ("Notebook", 375), ("Office chair", 14900), ("Backpack", 5950), ("Water bottle", 1299)]
# Region and how its units compare; West is to win clearly.
REGIONS = [("North", 0.8), ("South", 0.9), ("East", 1.0), ("West", 1.6)]


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def write_csv(name: str, header: list, rows: list) -> None:
    with open(HERE / name, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def sales(r: random.Random) -> None:
    """240 sales, the regions in turn."""
    rows = []
    for i in range(240):
        day = date(YEAR, 1, 2) + timedelta(days=int(i * 1.5))
        region, share = REGIONS[i % len(REGIONS)]
        product, cents = PRODUCTS[int(r.random() * len(PRODUCTS))]
        units = 1 + int(r.random() * 20 * share)
        rows.append([day.isoformat(), region, product, units, money(cents), money(cents * units)])
    write_csv("sales.csv", ["date", "region", "product", "units", "unit_price", "revenue"], rows)


def weather(r: random.Random) -> None:
    """One year of daily mean temperatures in two cities."""
    rows = []
    for i in range(365):
        season = math.cos((i - 200) / 365 * 2 * math.pi)  # warmest on 20 July
        oslo = 6.5 + 11.5 * season + (r.random() - 0.5) * 7
        lisbon = 17.5 + 6.0 * season + (r.random() - 0.5) * 5
        day = date(YEAR, 1, 1) + timedelta(days=i)
        rows.append([day.isoformat(), f"{lisbon:.1f}", f"{oslo:.1f}"])
    write_csv("weather.csv", ["date", "lisbon", "oslo"], rows)


def orders(r: random.Random) -> None:
    """40 orders that need cleaning: amounts are text with thousands commas, the
    status is written in several ways, four orders are in the file twice."""
    names = ["Ada", "Ben", "Chloé", "Dmitri", "Emi", "Farid", "Grete", "Hugo"]
    status = ["paid", "Paid", "PAID ", "open", "Open", "cancelled"]
    rows = []
    for i in range(40):
        cents = 1000 + int(r.random() * 250_000)
        rows.append({
            "order": 1001 + i,
            "customer": names[int(r.random() * len(names))],
            "date": (date(YEAR, 3, 1) + timedelta(days=int(r.random() * 90))).isoformat(),
            "status": status[int(r.random() * len(status))],
            "amount": f"{cents / 100:,.2f}",
        })
    rows += [rows[i] for i in (3, 11, 19, 33)]
    lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
    (HERE / "orders.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    sales(random.Random(1))
    weather(random.Random(11))
    orders(random.Random(3))
