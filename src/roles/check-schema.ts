import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../cli/index.ts'
import { render, tableOf } from '../cli/output.ts'
import { ColumnarUnavailable } from '../platform/columnar/index.ts'
import { ConfigError, loadConfig } from '../platform/config/index.ts'
import { migrateCheck, type SchemaCheck } from './migrate.ts'
import { PostgresOutOfReach } from './stores.ts'

/** Prints how far the stores are. Exit status 1 when they are not current, 3 without an answer. */
export async function checkSchema(args: Arguments, io: CommandIo): Promise<number> {
  const found = await look().catch(inWords)
  const isPlain = args.value('output') === undefined
  io.out(isPlain ? linesOf(found) : render(args, found, () => tableOfCheck(found)))
  return found.error === null ? exitStatus.ok : exitStatus.findings
}

async function look(): Promise<SchemaCheck> {
  return migrateCheck(loadConfig('migrate'))
}

function inWords(error: unknown): never {
  if (error instanceof ConfigError) throw new UsageError(error.message)
  const isGone = error instanceof PostgresOutOfReach || error instanceof ColumnarUnavailable
  throw isGone ? new NoAnswer(error.message, { cause: error }) : error
}

/** One JSON object a line, for a script in front of it. */
function linesOf({ error, ...stores }: SchemaCheck): string {
  const lines = [stores, ...(error === null ? [] : [{ error }])]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

function tableOfCheck({ error, ...stores }: SchemaCheck): string {
  const rows = Object.entries(stores).map(([store, { current, latest, pending }]) => {
    return [store, String(current), String(latest), pending.join(', ')]
  })
  const table = tableOf(['STORE', 'CURRENT', 'LATEST', 'PENDING'], rows)
  return error === null ? table : `${table}\n${error}\n`
}
