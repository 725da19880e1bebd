import { parse } from 'yaml'
import { durationMs } from '../../kernel/duration.ts'
import { type Arguments, type CommandIo, UsageError } from '../command.ts'
import { instantFrom } from '../list-options.ts'

/** Reads a query from JSON or YAML. Throws `UsageError`; `source` names the text in it. */
export function readQueryText(text: string, source: string): Record<string, unknown> {
  const value = parsedFrom(text, source)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw new UsageError(
    `${source}: expected an object such as {"entity": "tasks", "window": {"from": …, "to": …}}; see docs/guides/query.md`,
  )
}

function parsedFrom(text: string, source: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    throw new UsageError(`${source}: expected JSON or YAML: ${reason}`)
  }
}

/**
 * Returns the window of the options, or undefined without them: `--last`, or `--from` with `--to`, which
 * is now by default. Throws `UsageError`.
 */
export function windowFrom(
  args: Arguments,
  io: Pick<CommandIo, 'now_ms'>,
): { from: string; to: string } | undefined {
  const [last, from, to] = ['last', 'from', 'to'].map((name) => args.value(name))
  const now = new Date(io.now_ms()).toISOString()
  if (last !== undefined) {
    if ((from ?? to) !== undefined)
      throw new UsageError('got --last with --from or --to, expected one of them')
    if (Number.isNaN(durationMs(last))) {
      throw new UsageError(`--last: got "${last}", expected a duration such as 15m, 24h or 7d`)
    }
    return { from: instantFrom('last', last, io), to: now }
  }
  if (from === undefined) {
    if (to === undefined) return undefined
    throw new UsageError('got --to without --from, expected both or --last')
  }
  return {
    from: instantFrom('from', from, io),
    to: to === undefined ? now : instantFrom('to', to, io),
  }
}

/** Reads the parameters of a saved query: `name=value`. Throws `UsageError`. */
export function parametersOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`--param: got "${pair}", expected name=value`)
      return [pair.slice(0, at), valueFrom(pair.slice(at + 1))]
    }),
  )
}

function valueFrom(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
