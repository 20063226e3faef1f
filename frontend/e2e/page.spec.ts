// What surrounds the conversation: chats, files, models, connection, keys.
import { ask, expect, finished, REAL, test } from './fixture';

test.skip(Boolean(REAL), 'scripted by the mock host');

test('chats are made, renamed, found and deleted', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'first');
  await finished(page);
  await page.getByTestId('new-chat').click();
  await ask(page, 'second');
  await finished(page);
  const list = page.getByTestId('chat-list');
  await expect(list.getByTestId('chat')).toHaveText([/second/, /first/]);

  await page.getByTestId('chat-menu').first().click();
  await page.getByTestId('rename').click();
  await page.getByTestId('rename-field').fill('Ledger');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('title')).toHaveText('Ledger');

  await page.keyboard.press('Control+k');
  await expect(page.getByTestId('chat-filter')).toBeFocused();
  await page.keyboard.type('led');
  await expect(list.getByTestId('chat')).toHaveText([/Ledger/]);
  await page.keyboard.press('Escape');

  await page.getByTestId('chat-menu').first().click();
  await page.getByTestId('delete').click();
  await page.getByTestId('confirm').getByRole('button', { name: 'Cancel' }).click();
  await expect(list.getByTestId('chat')).toHaveCount(2);
  await page.getByTestId('chat-menu').first().click();
  await page.getByTestId('delete').click();
  await page.getByTestId('confirm-yes').click();
  await expect(list.getByTestId('chat')).toHaveText([/first/]);
  await expect(page.getByTestId('empty')).toBeVisible();
});

test('a chat that comes to the top leaves the field of a new title alone', async ({
  page,
  mock,
}) => {
  await page.goto(mock.url);
  await ask(page, 'slow');
  await page.getByTestId('new-chat').click();
  await ask(page, 'second');
  const list = page.getByTestId('chat-list');
  await expect(list.getByTestId('chat')).toHaveText([/second/, /slow/]);
  await finished(page);

  await page.getByTestId('chat-menu').first().click();
  await page.getByTestId('rename').click();
  const field = page.getByTestId('rename-field');
  await field.fill('Led');
  const slow = [...mock.host.chats.values()].find((room) => /slow/.test(room.chat.title));
  const chat = { ...slow.chat, title: 'slow, done', updated: new Date().toISOString() };
  mock.host.emit({ chat });
  await expect(list.getByTestId('chat')).toHaveText([/slow, done/]);
  await expect(field).toBeFocused();
  await page.keyboard.type('ger');
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('title')).toHaveText('Ledger');
  await expect(list.getByTestId('chat')).toHaveText([/slow, done/, /Ledger/]);
});

test('drafts belong to their chat and survive a reload', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'first');
  await finished(page);
  await page.getByTestId('composer').fill('half a thought');
  await page.getByTestId('new-chat').click();
  await expect(page.getByTestId('composer')).toHaveValue('');
  await page.getByTestId('chat').click();
  await expect(page.getByTestId('composer')).toHaveValue('half a thought');
  await page.reload();
  await expect(page.getByTestId('composer')).toHaveValue('half a thought');
});

test('Enter of an input method does not send, Shift+Enter breaks the line', async ({
  page,
  mock,
}) => {
  await page.goto(mock.url);
  const composer = page.getByTestId('composer');
  await composer.fill('こんにちは');
  await composer.evaluate((area) => {
    const enter = { key: 'Enter', bubbles: true, cancelable: true };
    area.dispatchEvent(new KeyboardEvent('keydown', { ...enter, isComposing: true }));
    area.dispatchEvent(new KeyboardEvent('keydown', { ...enter, keyCode: 229 } as any));
  });
  await expect(page.getByTestId('user')).toHaveCount(0);
  await composer.press('Shift+Enter');
  await expect(composer).toHaveValue('こんにちは\n');
  await composer.press('Enter');
  await expect(page.getByTestId('user')).toHaveText('こんにちは');
});

test('dropped files are attached, and one that cannot be is explained', async ({ page, mock }) => {
  await page.goto(mock.url);
  await expect(page.getByTestId('empty')).toBeVisible();
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['a,b\n1,2\n'], 'köln.csv', { type: 'text/csv' }));
    data.items.add(new File(['MZ'], 'setup.exe'));
    return data;
  });
  await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer });
  await expect(page.getByTestId('drop-overlay')).toBeVisible();
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
  await expect(page.getByTestId('drop-overlay')).toHaveCount(0);
  await expect(page.getByTestId('chip')).toHaveCount(2);
  await expect(page.getByTestId('chip').filter({ hasText: 'köln.csv' })).toContainText('8 B');
  await expect(page.getByTestId('chip').filter({ hasText: 'setup.exe' })).toContainText(
    'cannot be attached',
  );
  expect(page.url()).toContain(mock.url);
  await page.getByRole('button', { name: 'Remove setup.exe' }).click();
  await ask(page, 'what is in it');
  await expect(page.getByTestId('user')).toContainText('köln.csv');
  await expect(page.getByTestId('chip')).toHaveCount(0);
});

test('long pasted text becomes a file and can be turned back', async ({ page, mock }) => {
  await page.goto(mock.url);
  await page.getByTestId('composer').evaluate((area) => {
    const data = new DataTransfer();
    data.setData('text/plain', 'a\tb\n'.repeat(3000));
    area.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
    );
  });
  await expect(page.getByTestId('chip')).toContainText('pasted table.tsv');
  await page.getByRole('button', { name: 'Insert as text' }).click();
  await expect(page.getByTestId('chip')).toHaveCount(0);
  expect((await page.getByTestId('composer').inputValue()).length).toBe(12_000);
});

test('two tabs stay in step', async ({ page, mock, context }) => {
  await page.goto(mock.url);
  await ask(page, 'files please');
  await expect(page.getByTestId('ask')).toBeVisible();
  const other = await context.newPage();
  await other.goto(mock.url);
  await other.getByTestId('chat').click();
  await expect(other.getByTestId('ask')).toBeVisible();
  await other.getByTestId('approve').click();
  await finished(page);
  await finished(other);
  await expect(page.getByTestId('ask')).toHaveCount(0);
  expect(await page.getByTestId('timeline').innerText()).toBe(
    await other.getByTestId('timeline').innerText(),
  );
});

test('a broken connection is told and nothing is lost or doubled', async ({ page, mock }) => {
  await page.goto(mock.url);
  await ask(page, 'a slow answer');
  await expect(page.getByTestId('answer')).toContainText('Paragraph 2:');
  mock.breakStreams();
  await expect(page.getByTestId('lost')).toBeVisible();
  await expect(page.getByTestId('lost')).toHaveCount(0);
  await expect(page.getByTestId('answer')).toContainText('Paragraph 9:');
  const words = await page.getByTestId('answer').innerText();
  const numbers = [...words.matchAll(/Paragraph (\d+):/g)].map((match) => Number(match[1]));
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  await page.keyboard.press('Escape');
  await finished(page);
  await expect(page.getByTestId('user')).toHaveCount(1);
});

test('a model is downloaded from the picker', async ({ page, mock }) => {
  await page.goto(mock.url);
  await page.getByTestId('model-picker').click();
  await expect(page.getByTestId('model')).toHaveCount(1);
  await page.getByTestId('pull').click();
  await expect(page.getByTestId('pull-progress')).toBeVisible();
  await expect(page.getByTestId('model')).toHaveCount(2);
  await page.getByTestId('model').filter({ hasText: 'Qwen3 8B' }).click();
  await expect(page.getByTestId('model-picker')).toContainText('Qwen3 8B');
});

test.describe('without a model', () => {
  test.use({ options: { models: 'none' } });
  test('the page explains and offers the download', async ({ page, mock }) => {
    await page.goto(mock.url);
    await expect(page.getByTestId('first-run')).toContainText('needs a language model');
    await page.getByTestId('composer').fill('too early');
    await expect(page.getByTestId('send')).toBeDisabled();
    await page.getByTestId('pull').first().click();
    await expect(page.getByTestId('pull-progress')).toBeVisible();
    await expect(page.getByTestId('empty')).toBeVisible();
    await expect(page.getByTestId('send')).toBeEnabled();
  });
});

test.describe('without a sandbox', () => {
  test.use({ options: { sandbox: 'none' } });
  test('the page warns', async ({ page, mock }) => {
    await page.goto(mock.url);
    await expect(page.getByTestId('sandbox')).toContainText('No sandbox');
    await ask(page, 'files please');
    await expect(page.getByTestId('ask')).toContainText('There is no sandbox');
  });
});

test('the list of chats folds in a narrow window', async ({ page, mock }) => {
  await page.setViewportSize({ width: 900, height: 600 });
  await page.goto(mock.url);
  await expect(page.getByTestId('chat-list')).toHaveCount(0);
  await page.getByTestId('open-sidebar').click();
  await expect(page.getByTestId('chat-list')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('chat-list')).toHaveCount(0);
});
