import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readLogo } from '../../../src/portal/read-logo.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const WEBP = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');

test.each([
  ['portal-logo.png', PNG, 'image/png'],
  ['portal-logo.webp', WEBP, 'image/webp'],
  ['portal-logo.jpg', Buffer.from('ffd8ffe0', 'hex'), 'image/jpeg'],
])('%s is the logo', (name, bytes, type) => {
  using home = temporaryDirectory();
  expect(readLogo({ DATA_DIR: home.path })).toBeUndefined();
  writeFileSync(path.join(home.path, name), bytes);
  expect(readLogo({ DATA_DIR: home.path })).toEqual({ type, bytes });
});

test.each([
  ['portal-logo.jpg', PNG, 'is no picture of the type image/jpeg'],
  ['portal-logo.png', Buffer.from('<script>'), 'is no picture of the type image/png'],
  ['portal-logo.webp', Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), 'is no picture of the type image/webp'],
  ['portal-logo.png', Buffer.concat([PNG, Buffer.alloc(64 * 1024)]), 'may have at most 64 KiB'],
])('%s that is something else or too large keeps the service from starting', (name, bytes, says) => {
  using home = temporaryDirectory();
  writeFileSync(path.join(home.path, name), bytes);
  expect(() => readLogo({ DATA_DIR: home.path })).toThrow(says);
});
