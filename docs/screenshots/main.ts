/** `npm run screenshots`: takes the pictures of docs/console.md from a running console. */
import { join } from 'node:path'
import { root } from '../../src/config/root.ts'
import { takePictures } from './camera.ts'

for (const { file, bytes } of await takePictures(join(root, 'docs', 'images'))) {
  process.stdout.write(`${file} ${Math.ceil(bytes / 1024)} KiB\n`)
}
