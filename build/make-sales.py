"""Prints a sales CSV with the given number of rows, the same ones each time."""
import random
import sys

random.seed(20250101)
print("date,region,product,units,unit_price,revenue")
for i in range(int(sys.argv[1])):
    units, cents = random.randint(1, 40), random.randint(300, 9000)
    region = random.choice(["North", "South", "South", "East", "West"])
    print(f"2025-{i % 12 + 1:02d}-{i % 28 + 1:02d},{region},{random.choice(['Lamp', 'Chair', 'Desk'])},{units},{cents / 100:.2f},{units * cents / 100:.2f}")
