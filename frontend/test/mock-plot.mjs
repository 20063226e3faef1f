// Draws a small line chart as a PNG, so that tests have a figure without Python.
import { crc32, deflateSync } from 'node:zlib';

const WIDTH = 800;
const HEIGHT = 450;
const LINES = [
  [31, 119, 180],
  [255, 127, 14],
  [44, 160, 44],
  [214, 39, 40],
];

/** The bytes of a PNG file. */
export function plot() {
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 3, 255);
  const set = (x, y, color) => {
    if (x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT) return;
    pixels.set(color, (Math.round(y) * WIDTH + Math.round(x)) * 3);
  };
  for (let x = 60; x < 780; x++) set(x, 400, [60, 60, 60]);
  for (let y = 30; y < 400; y++) set(60, y, [60, 60, 60]);
  LINES.forEach((color, n) => {
    for (let x = 60; x < 780; x += 0.25) {
      const t = (x - 60) / 720;
      const y = 330 - n * 55 - t * (n === 1 ? 90 : 20) + Math.sin(t * 9 + n * 1.7) * 18;
      for (let w = -1; w <= 1; w++) set(x, y + w, color);
    }
  });
  const rows = Buffer.alloc(HEIGHT * (WIDTH * 3 + 1));
  for (let y = 0; y < HEIGHT; y++) {
    pixels.copy(rows, y * (WIDTH * 3 + 1) + 1, y * WIDTH * 3, (y + 1) * WIDTH * 3);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}
