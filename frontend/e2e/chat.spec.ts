// The main job, from a question to a checked answer.
import { ask, expect, finished, REAL, test } from './fixture';

test.skip(Boolean(REAL), 'scripted by the mock host');

test('a question with a file ends in a table, a figure and an answer', async ({ page, mock }) => {
  await page.goto(mock.url);
  await page.getByTestId('example').first().click();
  await expect(page.getByTestId('chip')).toContainText('sales.csv');
  await page.getByTestId('chip').getByRole('button', { name: 'sales.csv', exact: true }).click();
  await expect(page.getByTestId('card')).toContainText('1,240 rows');
  await page.getByTestId('composer').press('Enter');
  await expect(page.getByTestId('user')).toContainText('Which region grew fastest');
  await expect(page.getByTestId('phase')).toBeVisible();
  await page.getByTestId('approve').click();
  const table = page.getByTestId('table');
  await expect(table).toContainText('1,240 rows × 6 columns');
  await expect(table.locator('tbody td.number').first()).toHaveCSS('text-align', 'right');
  await page.getByTestId('approve').click();
  await expect(page.getByTestId('figure').locator('img')).toBeVisible();
  await finished(page);
  await expect(page.getByTestId('answer').last()).toContainText('North grew fastest');
  await expect(page.getByTestId('spoken')).toContainText('Answer finished');
  await expect(page.getByTestId('cell')).toHaveCount(2);
  await expect(page.getByTestId('output').first()).toContainText('1,240 orders read');

  await page.getByTestId('figure').getByRole('button', { name: 'Enlarge' }).click();
  await expect(page.getByTestId('zoom').locator('img')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('zoom')).toHaveCount(0);

  // The same after a reload: the screen is a reading of the entries.
  const before = await page.getByTestId('timeline').innerText();
  await page.reload();
  await expect(page.getByTestId('cell')).toHaveCount(2);
  await expect(page.getByTestId('table')).toBeVisible();
  expect(await page.getByTestId('timeline').innerText()).toBe(before);
});

test('only the rows in view are in the document', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'table please');
  await page.getByTestId('approve').click();
  const table = page.getByTestId('table');
  await expect(table).toBeVisible();
  expect(await table.locator('tbody tr').count()).toBeLessThan(40);
  // What is live becomes an entry when the run ends, with a table of its own.
  await finished(page);
  await expect(async () => {
    await table.locator('.scroll').evaluate((e) => e.scrollTo(0, e.scrollHeight));
    await expect(table.locator('tbody th').last()).toHaveText('199', { timeout: 1_000 });
  }).toPass();
  expect(await table.locator('tbody tr').count()).toBeLessThan(40);
});

test('the view follows the end until the person scrolls up', async ({ page, mock }) => {
  await page.setViewportSize({ width: 900, height: 600 });
  await page.goto(mock.url);
  await page.getByTestId('approve-mode').click();
  await page.getByTestId('mode-auto').click();
  await ask(page, 'table and figure');
  await expect(page.getByTestId('answer').last()).toContainText('were left out');
  await finished(page);
  await expect(page.getByTestId('figure').locator('img')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Copy answer' })).toBeInViewport();
  await expect(page.getByRole('button', { name: 'To the end' })).toHaveCount(0);

  await ask(page, 'a slow answer');
  await expect(page.getByTestId('answer').last()).toContainText('Paragraph 5:');
  await page.getByTestId('timeline').hover();
  await page.mouse.wheel(0, -1500);
  await expect(page.getByRole('button', { name: 'To the end' })).toBeVisible();
  const place = () => page.getByTestId('timeline').evaluate((view) => view.scrollTop);
  await expect.poll(place).toBeGreaterThan(0);
  await expect(page.getByTestId('answer').last()).toContainText('Paragraph 12:');
  await expect(page.getByRole('button', { name: 'To the end' })).toBeVisible();
  await page.getByRole('button', { name: 'To the end' }).click();
  await expect(page.getByRole('button', { name: 'To the end' })).toHaveCount(0);
});

test('code can be edited before it runs', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'table please');
  await page.getByTestId('edit').click();
  const editor = page.getByTestId('editor').locator('.cm-content');
  await expect(editor).toBeFocused();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# mine\n');
  await page.keyboard.press('Control+Enter');
  await finished(page);
  await expect(page.getByTestId('cell')).toContainText('# mine');
  await expect(page.getByTestId('cell')).toContainText('edited by you');
});

test('code that is refused is not run, and the note is kept', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'files please');
  await page.getByTestId('deny').click();
  await page.getByTestId('deny-note').fill('Use the other file');
  await page.keyboard.press('Enter');
  await finished(page);
  await expect(page.getByTestId('cell-status')).toContainText('not run');
  await expect(page.getByTestId('cell')).toContainText('Use the other file');
  await expect(page.getByTestId('made-file')).toHaveCount(0);
});

test('the question can be settled for the whole chat', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'table and figure');
  await page.getByTestId('always').check();
  await page.getByTestId('approve').click();
  await finished(page);
  await expect(page.getByTestId('figure')).toBeVisible();
  await expect(page.getByTestId('approve-mode')).toContainText('Run without asking');
});

test('the approve mode is chosen before a chat begins', async ({ page, mock }) => {
  await page.goto(mock.url);
  await page.getByTestId('approve-mode').click();
  await page.getByTestId('mode-never').click();
  await ask(page, 'files please');
  await finished(page);
  await expect(page.getByTestId('cell-status')).toContainText('not run');
});

test('a stray Enter does not run code; Ctrl+Enter on the card does', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'files please');
  await expect(page.getByTestId('ask')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('ask')).toBeVisible();
  await page.keyboard.press('Control+Enter');
  await finished(page);
  await expect(page.getByTestId('cell-status')).toContainText('done');
  await expect(page.getByTestId('made-file')).toContainText('summary.xlsx');
  const download = page.waitForEvent('download');
  await page.getByTestId('made-file').getByRole('button').click();
  expect((await download).suggestedFilename()).toBe('summary.xlsx');
});

test('an error of the program is shown with line and hint', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'error please');
  await page.getByTestId('approve').click();
  const error = page.getByTestId('error');
  await expect(error).toContainText("KeyError: 'price '");
  await expect(error).toContainText('line 1');
  await expect(error).toContainText('Did you mean');
  await expect(error.getByText('Traceback (most recent')).toBeHidden();
  await error.getByText('Traceback', { exact: true }).click();
  await expect(error.getByText('Traceback (most recent')).toBeVisible();
});

test('progress bars overwrite themselves', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'progress please');
  await page.getByTestId('approve').click();
  await finished(page);
  const text = await page.getByTestId('output').first().innerText();
  expect(text).toContain('100%');
  expect(text).not.toContain('50%');
  await expect(page.locator('.ansi-green')).toHaveText('done');
});

test('a fault says what to do and can be sent again', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'fault please');
  const fault = page.getByTestId('fault');
  await expect(fault).toContainText('did not fit into memory');
  await expect(fault).toContainText('smaller model');
  await page.getByTestId('retry').click();
  await expect(page.getByTestId('user')).toHaveCount(2);
});

test('Esc stops an answer and keeps what was written', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'a slow answer');
  await expect(page.getByTestId('answer')).toContainText('Paragraph 1');
  await page.keyboard.press('Escape');
  await finished(page);
  await expect(page.getByTestId('answer')).toContainText('stopped before it was finished');
  await expect(page.getByTestId('answer')).toContainText('Paragraph 1');
});

test('hostile text of the model stays text', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(
    page,
    'echo <img src=x onerror="window.hit=1"> <script>window.hit=1</script> ![t](https://example.org/t.png) [go](https://example.org/?q=secret) [js](javascript:window.hit=1)',
  );
  await finished(page);
  const answer = page.getByTestId('answer');
  await expect(answer.locator('img, script')).toHaveCount(0);
  await answer.getByText('go', { exact: true }).click();
  await expect(page.getByTestId('confirm')).toContainText('https://example.org/?q=secret');
  await page.keyboard.press('Escape');
  expect(page.url()).toContain(mock.url);
  expect(await page.evaluate(() => (window as any).hit)).toBeUndefined();
});
