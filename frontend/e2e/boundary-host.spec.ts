// Boundary and effects in the real program: host, sandbox and files are real, the
// model is a script (script.json). build/test-browser.sh starts it.
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ask, auto, expect, finished, REAL, setProject, test } from './fixture';

test.skip(!REAL || !process.env.ATOLL_SCRIPT, 'run build/test-browser.sh');

/** A folder of the person's; not among the temporary files, which the sandbox replaces. */
const folders: string[] = [];
function projectFolder(): string {
  const dir = realpathSync(mkdtempSync(join(homedir(), '.atoll-e2e-')));
  folders.push(dir);
  writeFileSync(join(dir, 'notes.txt'), 'first\nsecond\n');
  return dir;
}

test.afterAll(() => folders.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

test('what code would do to files of the person waits for a yes', async ({ page }) => {
  const dir = projectFolder();
  const notes = () => readFileSync(join(dir, 'notes.txt'), 'utf8');
  await page.goto(REAL);
  await setProject(page, dir);
  await auto(page);
  await ask(page, 'Tidy up the project with python code');
  await expect(page.getByTestId('effects')).toBeVisible({ timeout: 20_000 });
  await expect(page.getByTestId('change')).toHaveCount(2);
  await expect(page.getByTestId('diff').first()).toContainText('tidy');
  expect(notes()).toBe('first\nsecond\n');
  await page.getByTestId('deny').click();
  await page.getByTestId('deny-send').click();
  await finished(page);
  await expect(page.getByTestId('cell-status').last()).toContainText('discarded');
  expect(notes()).toBe('first\nsecond\n');
  expect(existsSync(join(dir, 'report.txt'))).toBe(false);

  await ask(page, 'Tidy up the project with python code');
  await page.getByTestId('approve').click();
  await finished(page);
  expect(notes()).toBe('tidy\n');
  expect(readFileSync(join(dir, 'report.txt'), 'utf8')).toBe('done\n');
});

test('a preview is applied as it was seen', async ({ page }) => {
  await page.goto(REAL);
  await ask(page, 'Draw lots with python code');
  await page.getByTestId('preview').click();
  await expect(page.getByTestId('change')).toHaveCount(1, { timeout: 20_000 });
  const lot = (await page.getByTestId('diff').textContent())?.match(/lot ([0-9a-f]{16})/)?.[1];
  expect(lot).toBeTruthy();
  await page.getByTestId('approve').click();
  await finished(page);
  await expect(page.getByTestId('output').first()).toContainText(`lot ${lot}`);
});

test('what was refused is told, and the sandbox can be tested', async ({ page }) => {
  test.setTimeout(120_000);
  await page.goto(REAL);
  await auto(page);
  await ask(page, 'Look around with python code');
  await finished(page);
  const refused = page.getByTestId('refused');
  await expect(refused).toContainText('example.org was not reached');
  await expect(refused).toContainText('.ssh/id_rsa');
  await page.getByTestId('sandbox').click();
  await page.getByTestId('sandbox-settings').click();
  await page.getByTestId('sandbox-test').click();
  await expect(page.getByTestId('test-result')).toContainText('0', { timeout: 100_000 });
  await expect(page.getByTestId('escaped')).toHaveCount(0);
});
