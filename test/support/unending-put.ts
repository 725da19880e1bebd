/** `node unending-put.ts <options as JSON> <name>`: puts 12 MiB, prints a line, and waits. */
import { sleep } from '../../src/kernel/time.ts'
import { openBlobs } from '../../src/platform/blobs/index.ts'

const [options = '', name = ''] = process.argv.slice(2)

await openBlobs(JSON.parse(options)).put(name, content())

async function* content() {
  for (let piece = 0; piece < 12; piece++) yield Buffer.alloc(1024 * 1024)
  process.stdout.write('so far\n')
  await sleep(60_000)
}
