// A WebDriver client of a few lines: https://www.w3.org/TR/webdriver2/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'; // the standard's name for an element's id

/** Starts WebKitWebDriver and, through it, the program `binary`. */
export async function open(binary, port) {
  const driver = spawn('WebKitWebDriver', [`--port=${port}`], { stdio: 'inherit' });
  const ended = once(driver, 'exit');
  const ask = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      body: body && JSON.stringify(body),
    });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  };
  await until('WebKitWebDriver answers', () => ask('GET', '/status').catch(() => false));
  const { sessionId } = await ask('POST', '/session', {
    capabilities: {
      alwaysMatch: { 'webkitgtk:browserOptions': { binary, args: [] }, timeouts: { script: 60_000 } },
    },
  });
  const at = `/session/${sessionId}`;
  const find = async (css) =>
    (await ask('POST', `${at}/element`, { using: 'css selector', value: css }))[ELEMENT];
  const run = (script, ...args) => ask('POST', `${at}/execute/sync`, { script, args });
  return {
    run,
    url: () => ask('GET', `${at}/url`),
    click: async (css) => ask('POST', `${at}/element/${await find(css)}/click`, {}),
    type: async (css, text) =>
      ask('POST', `${at}/element/${await find(css)}/value`, { text }),
    /** Waits until an element is there, and holds `text` if given; returns its text. */
    see: (css, text = '') =>
      until(`${css} shows "${text}"`, async () => {
        const shown = await run(
          `return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent).find((t) => t.includes(arguments[1])) ?? null`,
          css,
          text,
        );
        return shown === null ? false : { shown };
      }).then(({ shown }) => shown),
    /** Waits until no such element is there. */
    gone: (css) =>
      until(`${css} is gone`, () => run(`return !document.querySelector(arguments[0])`, css)),
    /** Waits until no such element shows the text. */
    unsaid: (css, text) =>
      until(`${css} shows "${text}" no more`, () =>
        run(
          `return ![...document.querySelectorAll(arguments[0])].some((e) => e.textContent.includes(arguments[1]))`,
          css,
          text,
        ),
      ),
    close: async () => {
      driver.kill();
      await ended;
    },
  };
}

/** Waits until `done` returns something; 60 seconds are enough for a busy machine. */
export async function until(what, done) {
  let last;
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    last = await done();
    if (last) return last;
  }
  throw new Error(`waited in vain until ${what}`);
}
