// What axe finds, in both themes and in the states people meet.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { ask, expect, finished, REAL, test } from './fixture';

test.skip(Boolean(REAL), 'scripted by the mock host');

async function check(page: Page, state: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  const found = violations.map(
    (v) => `${state}: ${v.id} ${v.nodes.map((n) => n.target).join(' ')}`,
  );
  expect.soft(found).toEqual([]);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });
    test('every state is accessible', async ({ page, mock }) => {
      test.setTimeout(240_000); // axe reads the whole page many times
      await page.goto(mock.url);
      await expect(page.getByTestId('example').first()).toBeVisible();
      await check(page, 'empty');
      await page.getByTestId('example').first().click();
      await expect(page.getByTestId('chip')).toBeVisible();
      await page.getByTestId('composer').press('Enter');
      await expect(page.getByTestId('ask')).toBeVisible();
      await check(page, 'ask');
      await page.getByTestId('approve').click();
      await expect(page.getByTestId('table')).toBeVisible();
      await expect(page.getByTestId('approve')).toBeVisible();
      await page.getByTestId('edit').click();
      await expect(page.locator('.cm-content')).toBeVisible();
      await check(page, 'edit');
      await page.getByTestId('approve').click();
      await finished(page);
      await check(page, 'answer');
      await ask(page, 'error please');
      await page.getByTestId('deny').click();
      await check(page, 'deny');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByTestId('approve').click();
      await finished(page);
      await ask(page, 'fault please');
      await expect(page.getByTestId('fault')).toBeVisible();
      await check(page, 'fault');
      await page.getByTestId('model-picker').click();
      await check(page, 'models');
      await page.keyboard.press('Escape');
      await page.getByTestId('sandbox').click();
      await check(page, 'sandbox');
      await page.getByTestId('preset-offline-project').click();
      await page.getByTestId('project').fill('reports');
      await check(page, 'preset');
      await page.getByTestId('sandbox-settings').click();
      await page.getByTestId('sandbox-test').click();
      await page.getByTestId('test-group').first().locator('summary').click();
      await check(page, 'sandbox settings');
      await page.keyboard.press('Escape');
      await ask(page, 'hostile please');
      await page.getByTestId('preview').click();
      await expect(page.getByTestId('effects')).toBeVisible();
      await page.getByTestId('remember').check();
      await check(page, 'effects');
      await page.getByTestId('approve').click();
      await finished(page);
      await ask(page, 'refused please');
      await page.getByTestId('approve').click();
      await finished(page);
      await page.getByTestId('receipt-line').last().click();
      await check(page, 'receipt');
      await page.getByTestId('chat-menu').first().click();
      await page.getByTestId('delete').click();
      await check(page, 'delete');
    });
  });
}
