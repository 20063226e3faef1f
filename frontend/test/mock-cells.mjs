// What the mock host's model says and what its code shows.
import { BOUNDARY_CELLS } from './mock-boundary.mjs';
import { plot } from './mock-plot.mjs';

const TABLE = 'application/vnd.atoll.table+json';

export const LOREM =
  'the revenue of the northern region grew by 18.4 % over the year, while the other regions stayed within two points of their earlier level.';

export const PLAIN = `Yes. A few things that help with **data questions**:

- Attach the file and say what a row is.
- Name the column you care about, for example \`revenue\`.
- Ask for a *table* or a *figure* when you want one.

\`\`\`python
import pandas as pd
sales = pd.read_csv("sales.csv")  # one row is one order
\`\`\`

More in the [pandas guide](https://pandas.pydata.org/docs/).
`;

export const CLOSING = `**North grew fastest:** revenue rose by **18.4 %**, ahead of West (6.1 %) and South (2.0 %). East shrank slightly.

| Region | 2024 | 2025 | Growth |
|:--|--:|--:|--:|
| North | 412,300 | 488,100 | 18.4 % |
| West | 388,900 | 412,600 | 6.1 % |
| South | 301,200 | 307,200 | 2.0 % |
| East | 295,000 | 291,700 | −1.1 % |

Two rows had no region and were left out.
`;

export const CELLS = [
  {
    when: /table|figure/,
    say: 'I will read the file and add up the revenue of each region and month.',
    reasons: ['Reads sales.csv'],
    code: `import pandas as pd

sales = pd.read_csv("sales.csv", parse_dates=["date"])
sales["month"] = sales["date"].dt.to_period("M").astype(str)
# one row for each region and month
summary = (
    sales.groupby(["region", "month"], as_index=False)
    .agg(units=("units", "sum"), revenue=("revenue", "sum"))
)
print(f"{len(sales):,} orders read")
summary
`,
    outputs: (host) => [
      { stream: 'stdout', text: '1,240 orders read\n' },
      { mime: TABLE, blob: host.blob(JSON.stringify(table(200, 6))), plain: 'region month …' },
    ],
  },
  {
    when: /figure/,
    say: 'Now the figure.',
    reasons: ['Draws a figure'],
    code: `import matplotlib.pyplot as plt

wide = summary.pivot(index="month", columns="region", values="revenue")
wide.plot(figsize=(8, 4.5))
plt.ylabel("Revenue")
plt.show()
`,
    outputs: (host) => [
      { mime: 'image/png', blob: host.blob(plot()), plain: '<Figure size 800x450 with 1 Axes>' },
    ],
  },
  {
    when: /progress/,
    say: 'This takes a moment.',
    code: 'for step in tqdm(range(10)):\n    work(step)\n',
    pace: 120,
    outputs: () => [
      ...Array.from({ length: 10 }, (_, i) => ({
        stream: 'stderr',
        text: `\r${(i + 1) * 10}%|${'█'.repeat(i + 1)}${' '.repeat(9 - i)}| ${i + 1}/10`,
      })),
      { stream: 'stderr', text: '\n' },
      { stream: 'stdout', text: '\x1b[32mdone\x1b[0m in \x1b[1m1.2 s\x1b[0m\n' },
    ],
  },
  {
    when: /error/,
    say: 'Let me look at the prices.',
    code: 'sales["price "].mean()\n',
    outputs: () => [],
    error: {
      name: 'KeyError',
      message: "'price '",
      line: 1,
      trace:
        'Traceback (most recent call last):\n  cell 1, line 1\n    sales["price "].mean()\nKeyError: \'price \'',
      hint: 'Columns are: date, region, product, units, price, revenue. Did you mean "price"?',
    },
  },
  {
    when: /files/,
    say: 'I save the result.',
    code: 'summary.to_excel("summary.xlsx")\n',
    reasons: ['Writes summary.xlsx'],
    outputs: () => [],
    files: (host) => [
      {
        name: 'summary.xlsx',
        size: 18_433,
        mime: 'text/plain',
        blob: host.blob('not really a workbook'),
      },
    ],
  },
  ...BOUNDARY_CELLS,
];

function table(rows, columns) {
  const regions = ['East', 'North', 'South', 'West'];
  const names = [
    'region',
    'month',
    'units',
    'revenue',
    'share',
    'checked',
    ...Array.from({ length: 60 }, (_, i) => `extra_${i}`),
  ].slice(0, columns);
  const types = [
    'object',
    'object',
    'int64',
    'float64',
    'float64',
    'bool',
    ...Array(60).fill('float64'),
  ].slice(0, columns);
  return {
    columns: names,
    types,
    index: Array.from({ length: rows }, (_, i) => i),
    rows: Array.from({ length: rows }, (_, i) =>
      [
        regions[i % 4],
        `2025-${String((i % 12) + 1).padStart(2, '0')}`,
        120 + ((i * 37) % 400),
        Math.round((9000 + ((i * 7919) % 25000)) * 100) / 100,
        i % 9 === 4 ? null : Math.round(((i * 13) % 100) * 10) / 1000,
        i % 3 === 0,
        ...Array(60).fill(i / 7),
      ].slice(0, columns),
    ),
    shape: [1240, columns],
  };
}
