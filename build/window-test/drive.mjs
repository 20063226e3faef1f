// Drives the real window as a person would. Started by build/test-window.sh,
// which prepares the display and the folder of its environment.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { open, until } from './webdriver.mjs';

const { WORK, WINDOW, IMAGES } = process.env;
const home = join(WORK, 'home');
const port = 20_000 + (process.pid % 20_000);
const x = (...args) => execFileSync('xdotool', args.map(String), { encoding: 'utf8' }).trim();
const alive = (pid) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
const appPid = () => Number(readFileSync(join(WORK, 'app.pid'), 'utf8'));

async function step(name, run) {
  const begin = Date.now();
  try {
    await run();
  } catch (cause) {
    execFileSync('import', ['-window', 'root', join(WORK, 'failed.png')]);
    throw new Error(`not ok: ${name}`, { cause });
  }
  console.log(`ok  ${name} (${Date.now() - begin} ms)`);
}

/** The X id of the visible window of that title, as soon as there is one. */
const find = (title) =>
  until(`the window "${title}" is on the screen`, () => {
    try {
      return x('search', '--onlyvisible', '--name', `^${title}$`).split('\n').at(-1);
    } catch {
      return ''; // xdotool found nothing
    }
  });

const geometry = (id) =>
  Object.fromEntries(
    x('getwindowgeometry', '--shell', id).split('\n').map((line) => line.split('=')).map(([k, v]) => [k, Number(v)]),
  );

/** Presses a key of the keyboard. */
function press(id, key) {
  x('windowactivate', '--sync', id);
  x('key', key);
}

async function shoot(id, name, width, height) {
  x('windowsize', id, width, height);
  x('mousemove', 1, 1);
  await until('the window has its size', () => {
    const { WIDTH, HEIGHT } = geometry(id);
    return WIDTH === width && HEIGHT === height;
  });
  await sleep(1500); // the page lays itself out and fades what it fades
  execFileSync('import', ['-window', id, join(IMAGES, name)]);
}

/** Drags files from another program onto the middle of the window. */
async function drop(id, files) {
  const source = spawn(join(WORK, 'drag'), files, { stdio: 'inherit' });
  const ended = once(source, 'exit');
  try {
    const from = await find('atoll-test-drag');
    x('windowmove', from, 1340, 20);
    x('windowraise', from);
    await sleep(300);
    const s = geometry(from);
    const t = geometry(id);
    const [sx, sy] = [s.X + 40, s.Y + 30];
    const [tx, ty] = [t.X + (t.WIDTH >> 1), t.Y + (t.HEIGHT >> 1)];
    x('mousemove', sx, sy);
    await sleep(200);
    x('mousedown', 1);
    for (let i = 1; i <= 12; i++) {
      await sleep(80);
      x('mousemove', Math.round(sx + ((tx - sx) * i) / 12), Math.round(sy + ((ty - sy) * i) / 12));
    }
    for (let i = 1; i <= 4; i++) {
      await sleep(150);
      x('mousemove', tx + i, ty);
    }
    await sleep(300);
    x('mouseup', 1);
    await sleep(1000); // the files are asked for after the button is up
  } finally {
    source.kill();
    await ended;
  }
}

const csv = join(WORK, 'Verkäufe März.csv');
writeFileSync(csv, 'region,amount\nNorth,310\nWest,942.5\nSouth,120\nWest,262\nNorth,88\n');
const second = join(WORK, 'second.csv');
writeFileSync(second, 'a,b\n1,2\n');

async function removeChip(page) {
  // The chip grows when the file's summary comes, and its button moves.
  await page.unsaid('[data-testid=chip]', 'reading');
  await page.click('[data-testid=chip] button:last-child');
  await page.gone('[data-testid=chip]');
}

async function mainJob() {
  let page;
  try {
    await step('the window shows the page', async () => {
      page = await open(join(WORK, 'launch'), port);
      await page.see('[data-testid=composer]');
      await page.see('[data-testid=title]', 'Atoll');
      await page.gone('[data-testid=lost]');
      assert.match(await page.url(), /^wails:\/\/wails/);
      assert.equal(await page.run('return typeof window.go.desktop.Bridge.Watch'), 'function');
      assert.notEqual(await page.run('return navigator.language'), 'C');
    });
    const id = await find('Atoll');

    await step('the file of the command line is attached', async () => {
      await page.see('[data-testid=chip]', 'second.csv');
      await removeChip(page);
    });

    await step('the policy holds: no inline script, no other origin', async () => {
      const blocked = await page.run(`
        const s = document.createElement('script'); s.textContent = 'window.ranInline = 1'; document.head.append(s);
        return window.ranInline === undefined`);
      assert.ok(blocked, 'an inline script ran');
    });

    await step('a file with a foreign name is dropped', async () => {
      await drop(id, [csv]);
      await page.see('[data-testid=chip]', 'Verkäufe März.csv');
      await until('the file was read', async () => !(await page.see('[data-testid=chip]')).includes('eading'));
      assert.match(await page.url(), /^wails:\/\/wails/, 'the drop replaced the page');
      assert.equal(await page.run(`return document.querySelectorAll('[data-testid=chip].problem').length`), 0);
    });

    await step('a prompt is typed and the code waits for approval', async () => {
      await page.type('[data-testid=composer]', 'Which region sells the most?');
      await page.see('[data-testid=send]:enabled'); // the page knows the model
      press(id, 'Return');
      await page.see('[data-testid=user]', 'Which region');
      await page.see('[data-testid=ask]', 'csv.DictReader');
    });

    await step('approved code runs and the answer comes', async () => {
      await page.click('[data-testid=approve]');
      await page.see('[data-testid=cell][data-status=ok]');
      await page.see('[data-testid=output]', 'West   1204.5');
      await page.see('[data-testid=answer]', 'West sells the most');
      await page.see('[data-testid=send]');
    });

    await step('pictures', async () => {
      mkdirSync(IMAGES, { recursive: true });
      await shoot(id, 'window.png', 1280, 800);
      await shoot(id, 'window-small.png', 900, 600);
      x('windowsize', id, 1280, 800);
    });

    await step('a second start hands its file to this window', async () => {
      const other = spawn(WINDOW, [second], { stdio: 'inherit' });
      await once(other, 'exit');
      await page.see('[data-testid=chip]', 'second.csv');
      assert.ok(alive(appPid()));
      await removeChip(page);
    });

    await step('a file is chosen in the native dialog', async () => {
      press(id, 'ctrl+o');
      const dialog = await find('Attach files');
      press(dialog, 'ctrl+l'); // GTK asks for a path
      await sleep(1000);
      x('type', '--delay', 60, second);
      await sleep(500);
      x('key', 'Return');
      await page.see('[data-testid=chip]', 'second.csv');
      await removeChip(page);
    });

    await step('the window goes on with another host', async () => {
      const hostFile = join(home, 'run', 'host.json');
      const { pid } = JSON.parse(readFileSync(hostFile, 'utf8'));
      process.kill(pid, 'SIGKILL');
      await until('there is another host', () => {
        try {
          const next = JSON.parse(readFileSync(hostFile, 'utf8')).pid;
          return next !== pid && alive(next);
        } catch {
          return false; // between two hosts
        }
      });
      await page.gone('[data-testid=lost]');
      await page.type('[data-testid=composer]', 'Thanks!');
      await page.see('[data-testid=send]:enabled');
      press(id, 'Return');
      await page.see('[data-testid=answer]', 'You are welcome');
    });

    await step('Ctrl+Q closes the window', async () => {
      const pid = appPid();
      press(id, 'ctrl+q');
      await until('the window program has ended', () => !alive(pid));
    });
  } finally {
    await end(page);
  }
}

async function noHost() {
  let page;
  try {
    await step('without a host the window says why', async () => {
      page = await open(join(WORK, 'launch-broken'), port + 1);
      const said = await page.see('[data-testid=refusal]');
      assert.match(said, /Try again/);
      await sleep(1000);
      execFileSync('import', ['-window', await find('Atoll'), join(WORK, 'refusal.png')]);
    });
  } finally {
    await end(page);
  }
}

/** Ends the window program if it is still there, then the driver. */
async function end(page) {
  if (existsSync(join(WORK, 'app.pid')) && alive(appPid())) {
    process.kill(appPid());
    await until('the window program has ended', () => !alive(appPid()));
  }
  await page?.close();
}

await mainJob();
await noHost();
console.log('the window works');
