// The picture that sites show beside a link to the project: docs/images/social.svg, which is made of the boards. Sites take
// PNG alone: PLYD_PICTURES=1 renews it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { launch, picture } from './support.mjs';

test('the preview shows all its words and boards', async () => {
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 640 } });
    const svg = readFileSync(new URL('../../docs/images/social.svg', import.meta.url), 'utf8');
    await page.setContent(`<body style="margin: 0">${svg}`);
    const places = await page.locator('body > svg > svg, body > svg > text, body > svg > g > text').evaluateAll((all) => all
      .map((one) => one.getBoundingClientRect()).map(({ left, top, right, bottom }) => [left, top, right, bottom]));
    assert.equal(places.length, 8, 'the name, two lines and five boards');
    for (const [left, top, right, bottom] of places) {
      assert.ok(left >= 0 && top >= 0 && right <= 1280 && bottom <= 640, `${left}, ${top} to ${right}, ${bottom}`);
    }
    await picture(page, 'social');
  } finally {
    await browser.close();
  }
});
