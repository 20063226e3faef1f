// The boundary of a chat: effects before a yes, receipts, presets, grants, the test.
import { ask, auto, expect, finished, REAL, setProject, test } from './fixture';

test.skip(Boolean(REAL), 'scripted by the mock host');

test('effects are previewed and then applied', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'changes please');
  await expect(page.getByTestId('effects')).toHaveCount(0);
  await expect(page.getByTestId('approve')).toHaveText('Run');
  await page.getByTestId('preview').click();
  await expect(page.getByTestId('preview')).toContainText('Trying it out');
  await expect(page.getByTestId('approve')).toBeDisabled();
  const effects = page.getByTestId('effects');
  await expect(effects).toBeVisible();
  await expect(page.getByTestId('spoken')).toHaveText('The preview is ready.');
  await expect(page.getByTestId('change').first()).toContainText('deleted');
  await expect(page.getByTestId('change').first()).toContainText('data/sales-2019.csv');
  await expect(effects).toContainText('2 created, 1 changed, 1 file deleted');
  await expect(page.getByTestId('needs')).toContainText('Deletes data/sales-2019.csv');

  await expect(page.getByTestId('ask')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('ask')).toBeVisible();

  const diff = page.getByTestId('diff');
  await expect(diff.locator('.more').first()).toHaveText(/Revenue by region/);
  await expect(diff).not.toContainText('Ask for the missing regions');
  await diff.getByRole('button', { name: 'Show all' }).click();
  await expect(diff).toContainText('Ask for the missing regions');

  await expect(page.getByTestId('approve')).toHaveText('Apply these changes');
  await page.keyboard.press('Control+Enter');
  await finished(page);
  await expect(page.getByTestId('cell-status')).toContainText('done');
});

test('a long question is read from its effects on', async ({ page, mock }) => {
  await page.setViewportSize({ width: 900, height: 600 });
  await page.goto(mock.url);
  await ask(page, 'changes please');
  await page.getByTestId('preview').click();
  await expect(page.getByTestId('effects')).toBeVisible();
  await expect(page.getByTestId('needs')).toBeInViewport({ ratio: 1 });
});

test('edits after a preview run anew', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'changes please');
  await page.getByTestId('preview').click();
  await expect(page.getByTestId('effects')).toBeVisible();
  await page.getByTestId('edit').click();
  await expect(page.getByTestId('editor').locator('.cm-content')).toBeFocused();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# mine\n');
  await expect(page.getByTestId('approve')).toHaveText('Run edited code');
  await expect(page.getByTestId('ask')).toContainText('Edited code runs anew');
});

test('a preview that fails says why and leaves the question open', async ({ page, mock }) => {
  mock.host.chats_preview = () => {
    throw { code: 'sandbox.layer', title: 'This disk cannot hold a layer' };
  };
  await page.goto(mock.url);
  await ask(page, 'changes please');
  await page.getByTestId('preview').click();
  await expect(page.getByTestId('fault')).toContainText('cannot hold a layer');
  await expect(page.getByTestId('preview')).toBeEnabled();
  await page.getByTestId('approve').click();
  await finished(page);
});

test('what reaches beyond the workspace waits after it ran, and can be discarded', async ({
  page,
  mock,
}) => {
  await page.goto(mock.url);
  await auto(page);
  await ask(page, 'changes please');
  await expect(page.getByTestId('ask')).toContainText('has run in a layer');
  await expect(page.getByTestId('effects')).toBeVisible();
  await expect(page.getByTestId('preview')).toHaveCount(0);
  await expect(page.getByTestId('edit')).toHaveCount(0);
  await page.getByTestId('deny').click();
  await page.getByTestId('deny-note').fill('Keep the old file');
  await page.getByTestId('deny-send').click();
  await finished(page);
  await expect(page.getByTestId('cell-status')).toContainText('ran, changes discarded');
  await expect(page.getByTestId('cell')).toContainText('Keep the old file');
});

test('a yes is remembered for the project, listed and taken back', async ({ page, mock }) => {
  await page.goto(mock.url);
  await setProject(page, '/home/ada/reports');
  await auto(page);
  await ask(page, 'changes please');
  await page.getByTestId('remember').check();
  await page.getByTestId('remember-scope').selectOption('project');
  await page.getByTestId('remember-until').selectOption('today');
  await page.getByTestId('approve').click();
  await finished(page);
  const [grant] = mock.host.grants;
  expect(grant).toMatchObject({ effect: 'delete', scope: 'project', where: '/home/ada/reports' });
  expect(new Date(grant.until).getTime()).toBeLessThanOrEqual(new Date().setHours(24, 0, 1, 0));

  await ask(page, 'changes please');
  await finished(page);
  await expect(page.getByTestId('cell')).toHaveCount(2);

  await page.getByTestId('sandbox').click();
  await page.getByTestId('sandbox-settings').click();
  await expect(page.getByTestId('grant')).toContainText('Deletes data/sales-2019.csv');
  await expect(page.getByTestId('grant')).toContainText('in the project /home/ada/reports');
  await page.getByTestId('revoke').click();
  await expect(page.getByTestId('no-grants')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('sandbox-dialog')).toHaveCount(0);
  await expect(page.getByTestId('sandbox')).toBeFocused();
  await ask(page, 'changes please');
  await expect(page.getByTestId('ask')).toBeVisible();
});

test('the receipt tells what was refused without unfolding', async ({ page, mock, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(mock.url);
  await auto(page);
  await ask(page, 'refused please');
  await finished(page);
  const receipt = page.getByTestId('receipt');
  await expect(receipt.getByTestId('refused')).toContainText('pypi.org was not reached');
  const line = receipt.getByTestId('receipt-line');
  await expect(line).toHaveText('Ran sealed · 1.2 s · 84 MB · 2 things were refused');
  await expect(receipt.getByTestId('denial').first()).toBeHidden();
  await line.focus();
  await page.keyboard.press('Enter');
  await expect(receipt.getByTestId('denial').first()).toHaveText(
    /Network: pypi.org:443.*3 times.*stopped by network/,
  );
  await expect(receipt).toContainText('namespaces, landlock 7, seccomp');
  await expect(receipt).toContainText('too large to hash in time');
  await receipt.getByRole('button', { name: 'Copy the SHA-256 of sales.csv' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^[0-9a-f]{64}$/);
});

test('a run without refusals says so in one line', async ({ page, mock }) => {
  await page.goto(mock.url);
  await auto(page);
  await ask(page, 'files please');
  await finished(page);
  await expect(page.getByTestId('receipt-line')).toContainText('nothing refused');
  await expect(page.getByTestId('refused')).toHaveCount(0);
});

test('a preset is chosen, explained and changed with a warning', async ({ page, mock }) => {
  await page.goto(mock.url);
  await expect(page.getByTestId('sandbox')).toHaveText('Sealed');
  await page.getByTestId('sandbox').click();
  await expect(page.getByTestId('boundary-facts')).toContainText('the network is off');
  await page.keyboard.press('Escape');
  await ask(page, 'hello');
  await finished(page);

  await page.getByTestId('sandbox').click();
  await page.getByTestId('preset-network').click();
  await expect(page.getByTestId('restart-warning')).toContainText('Python starts anew');
  await page.getByTestId('hosts').fill('example.org, ht tp://');
  await expect(page.getByTestId('hosts')).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByTestId('policy-save')).toBeDisabled();
  await page.getByTestId('hosts').fill('example.org *.пример.рф:8443');
  await page.getByTestId('policy-save').click();
  await expect(page.getByTestId('sandbox')).toHaveText('Network');
  await expect(page.getByTestId('preset-network')).toBeFocused();
  await expect(page.getByTestId('boundary-facts')).toContainText('example.org, *.пример.рф:8443');
  await expect(page.getByTestId('spoken')).toHaveText(/Python has started anew/);

  await page.getByTestId('preset-offline-project').click();
  await page.getByTestId('project').fill('reports');
  await expect(page.getByTestId('policy-save')).toBeDisabled();
  await page.getByTestId('project').fill('/etc');
  await page.getByTestId('policy-save').click();
  await expect(page.getByTestId('fault')).toContainText('cannot be a project');
  await page.getByTestId('project').fill('/home/ada/reports');
  await page.getByTestId('policy-save').click();
  await expect(page.getByTestId('sandbox')).toContainText('Project reports');
  await page.getByTestId('protected').locator('summary').click();
  await expect(page.getByTestId('protected')).toContainText('.git/hooks');
});

test('the sandbox is tested with progress and a result that can be copied', async ({
  page,
  mock,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(mock.url);
  await page.getByTestId('sandbox').click();
  await page.getByTestId('sandbox-settings').click();
  await page.getByTestId('sandbox-test').click();
  await expect(page.getByTestId('test-progress')).toContainText('of 11 attempts');
  await expect(page.getByTestId('test-result')).toContainText('All 10 attempts were stopped');
  await expect(page.getByTestId('escaped')).toHaveCount(0);
  const group = page.getByTestId('test-group').first();
  await expect(group).toContainText('3 stopped');
  await group.locator('summary').click();
  await expect(group.getByTestId('attempt').first()).toContainText('stopped by mounts');
  await expect(page.getByTestId('absent').getByTestId('attempt')).toBeHidden();
  await page.getByTestId('test-result').getByRole('button', { name: 'Copy as text' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain('10 stopped, 0 got out, 1 not possible here');
  expect(copied).toContain('stopped: Code reads the home folder. (stopped by mounts)');
});

test.describe('on a machine that leaks', () => {
  test.use({ options: { weak: true, sandbox: 'reduced' } });
  test('what got out stands on top, and what does not hold is told', async ({ page, mock }) => {
    await page.goto(mock.url);
    await expect(page.getByTestId('sandbox')).toHaveText('Sealed (reduced)');
    await page.getByTestId('sandbox').click();
    await expect(page.getByTestId('lacks')).toContainText('Names of other files');
    await page.getByTestId('sandbox-settings').click();
    await page.getByTestId('sandbox-test').click();
    await expect(page.getByTestId('escaped')).toContainText('Code asks a name server.');
    await expect(page.getByTestId('test-result')).toContainText('1 attempt got out');
  });
});

test('hostile names are shown as they are', async ({ page, mock }) => {
  await page.goto(mock.url);
  await auto(page);
  await ask(page, 'hostile please');
  const card = page.getByTestId('ask');
  await expect(card).toContainText('invoiceU+202Efdp.exe');
  await expect(card).toContainText('lineU+000AbreakU+000DU+000A<img src=x');
  await expect(card).toContainText('Runs later: The editor runs it');
  await expect(card).toContainText('and 212 more');
  await expect(card.getByTestId('diff')).toContainText('curl U+202Emoc.live');
  await expect(card.locator('img')).toHaveCount(0);
  for (const width of [1280, 900, 480]) {
    await page.setViewportSize({ width, height: 600 });
    const over = await page
      .getByTestId('timeline')
      .evaluate((view) => view.scrollWidth - view.clientWidth);
    expect(over).toBe(0);
  }
  await page.getByTestId('approve').click();
  await finished(page);
  await expect(page.getByTestId('made-file').first()).toContainText('invoiceU+202Efdp.exe');
  expect(await page.evaluate(() => (window as any).hit)).toBeUndefined();
});

test('a run that takes very long is asked about while it goes on', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'changes please');
  await expect(page.getByTestId('ask')).toBeVisible();
  const [room] = [...mock.host.chats.values()];
  const open = room.asks[0].ask;
  const need = { effect: 'long', what: '', why: 'It has run for 10 minutes. Let it run on?' };
  mock.host.emit({ ask: { ...open, stage: 'after', needs: [need], canPreview: false } });
  const card = page.getByTestId('ask');
  await expect(card).toContainText('It is still running');
  await expect(card).toContainText('It has run for 10 minutes.');
  await expect(page.getByTestId('approve')).toHaveText('Let it run on');
  await expect(page.getByTestId('deny')).toHaveText('Stop it');
});
