import { startEmbeddedPostgres } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'

// A service in a separate process, for a test to kill: prints the address of its server, then
// waits.
const directory = process.argv[2]
if (directory === undefined) throw new Error('expected the folder of the data as argument')
const logger = createLogger({ role: 'test', level: 'silent' })
const { url, pid } = await startEmbeddedPostgres({ directory, logger })
process.stdout.write(`${JSON.stringify({ url, pid })}\n`)
process.stdin.resume().once('end', () => process.exit(3))
