/** `npm run screenshots`: retakes the screenshots of docs/console.md. */
import { join } from 'node:path'
import { root } from '../../src/config/root.ts'
import { takePictures } from './camera.ts'

for (const { file, bytes } of await takePictures(join(root, 'docs', 'images'))) {
  process.stdout.write(`${file} ${Math.ceil(bytes / 1024)} KiB\n`)
}
