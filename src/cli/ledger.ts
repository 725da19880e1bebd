import { z } from 'zod'
import { printable } from '../kernel/printable.ts'
import { apiSettings, askApi } from './ask-api.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer } from './command.ts'
import { render } from './output.ts'
import { tableOf } from './terminal/table.ts'

/** Prints the ledger from the API. Exit status 1 when items are lost. */
export async function ledger(args: Arguments, io: CommandIo): Promise<number> {
  const { url, api_key } = apiSettings()
  const answer = await askApi(ledgerUrl(url, args), { api_key, stop: io.stop })
  const read = answerSchema.safeParse(answer)
  if (!read.success) throw new NoAnswer(`${url}: the answer is not a ledger: check LOOPTRACE_URL`)
  const { totals } = read.data
  io.out(render(args, answer, () => pageOf(read.data, io)))
  return totals.lost > 0 ? exitStatus.findings : exitStatus.ok
}

const count = z.int().nonnegative()
const sums = {
  requests: count,
  accepted: count,
  stored: count,
  rejected: count,
  pending: count,
  lost: count,
}
const byReason = z.array(z.object({ reason: z.string(), items: count }))

/** The parts of the answer that are printed; another API version may have more. */
const answerSchema = z.object({
  window: z.object({ from: z.string(), to: z.string() }),
  totals: z.object(sums),
  paths: z.array(
    z.object({
      path: z.string(),
      ...sums,
      rejected_by_reason: byReason,
      lost_by_reason: byReason,
    }),
  ),
  queue: z.object({ reachable: z.boolean() }),
})

type Answer = z.infer<typeof answerSchema>

function ledgerUrl(base: string, args: Arguments): URL {
  const url = new URL('/api/v2/observability/ledger', base)
  for (const name of ['from', 'to', 'path']) {
    const value = args.value(name)
    if (value !== undefined) url.searchParams.set(name, value)
  }
  return url
}

function pageOf({ window, totals, paths, queue }: Answer, io: CommandIo): string {
  const names = ['requests', 'accepted', 'stored', 'rejected', 'pending', 'lost'] as const
  const row = (path: string, of: Answer['totals']) => [path, ...names.map((n) => String(of[n]))]
  const table = tableOf(
    ['PATH', ...names.map((name) => name.toUpperCase())],
    [...paths.map((one) => row(one.path, one)), row('all', totals)],
  )
  const reasons = paths
    .flatMap(({ path, rejected_by_reason, lost_by_reason }) => [
      ...rejected_by_reason.map((one) => `${path}: ${one.items} rejected: ${one.reason}`),
      ...lost_by_reason.map((one) => `${path}: ${one.items} lost: ${one.reason}`),
    ])
    .map(printable)
  return [
    `${window.from} to ${window.to}\n\n`,
    table,
    reasons.length === 0 ? '' : `\n${reasons.join('\n')}\n`,
    queue.reachable ? '' : '\nThe queue is unavailable, so no items are counted as lost.\n',
    totals.lost > 0 ? `\n${io.styled('red', `${totals.lost} items are lost.`)}\n` : '',
  ].join('')
}
