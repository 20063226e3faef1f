// Empties dist but for the placeholder that keeps `go build` working.
import { readdirSync, rmSync } from 'node:fs';

const dist = new URL('../dist/', import.meta.url);
for (const name of readdirSync(dist)) {
  if (name !== '.keep') rmSync(new URL(name, dist), { recursive: true });
}
