import { backOff } from '../../../../kernel/back-off.ts'
import { derivedId } from '../../../../kernel/ids.ts'
import { sleep } from '../../../../kernel/time.ts'
import type { Exchange } from '../../../../model/exchange.ts'
import { decodeFrame, MalformedFrame } from '../../../../model/exchange-frame.ts'
import type { Journal, LeftMessage } from '../../../../platform/journal/index.ts'
import { MessageTooLarge, publishWithRetries } from '../../../../platform/queue/index.ts'
import type { Logger, Metrics } from '../../../../platform/telemetry/index.ts'
import { acceptedEntry, lostEntry, rejectedEntry } from '../../../ledger/index.ts'
import type { CapturePolicy } from '../../../records/capture/index.ts'
import type { CaptureRecorder } from './capture-recorder.ts'
import {
  compressToFit,
  defaultRetry,
  type PublishOptions,
  toLedgerRequest,
} from './exchange-frames.ts'

type RecoverOptions = Pick<
  PublishOptions,
  'publish' | 'message_bytes_max' | 'retry' | 'onAccepted'
> & {
  capture?: CaptureRecorder
  logger: Logger
}

/** The calls of an earlier process, on their way to the queue. */
export type Recovery = {
  /** Ends the recovery after its current message. What is left stays in the journal. */
  stop(): Promise<void>
}

/** Starts to publish the calls that an earlier process left in the journal, then deletes them there. */
export function startRecovery(
  journal: Journal,
  options: RecoverOptions & { metrics: Metrics },
): Recovery {
  const { metrics, logger } = options
  const counter = metrics.counter({
    name: 'looptrace_proxy_journal_recovered_total',
    help: 'Records of calls that an earlier process left in its journal, by result. Torn ones were cut by its end.',
    labels: ['result'],
  })
  if (journal.torn > 0) counter.inc({ result: 'torn' }, journal.torn)
  const stopping = new AbortController()
  const work = async () => {
    const calls = await recoverCalls(journal.left, options, stopping.signal)
    if (calls === undefined) return
    for (const [result, count] of Object.entries(calls))
      if (count > 0) counter.inc({ result }, count)
    if (journal.left.length > 0) {
      logger.warn({ ...calls, torn: journal.torn }, 'calls of an earlier process were recovered')
    }
    await journal.forgetLeft()
  }
  const ended = work().catch((error: unknown) => {
    logger.error({ err: error }, 'recovering calls from the journal failed; they stay there')
  })
  return {
    stop: () => {
      stopping.abort()
      return ended
    },
  }
}

/** Counts of the calls of an earlier process, by result. */
type RecoveredCalls = {
  published: number
  refused: number
  unreadable: number
  too_large: number
}

/** Frames of the journal are not compressed. */
const decompressed_bytes_max = 0
const pause = { base_ms: 500, max_ms: 10_000 }

/**
 * Publishes the calls that an earlier process left, each message under its own id: the queue, the
 * stores and the ledger hold it once, also if it was published before. Waits while neither queue nor
 * spool accepts messages, and while a capture policy cannot be read. Resolves with undefined when the signal ended it.
 */
async function recoverCalls(
  messages: readonly LeftMessage[],
  options: RecoverOptions,
  signal: AbortSignal,
): Promise<RecoveredCalls | undefined> {
  const calls: RecoveredCalls = { published: 0, refused: 0, unreadable: 0, too_large: 0 }
  for (const message of messages) {
    const exchanges = readExchanges(message, options.logger)
    if (exchanges === undefined) calls.unreadable += 1
    else if (!(await recover({ ...message, exchanges, signal }, options, calls))) return undefined
  }
  return calls
}

type ReadMessage = LeftMessage & { exchanges: Exchange[]; signal: AbortSignal }

function readExchanges({ id, data }: LeftMessage, logger: Logger): Exchange[] | undefined {
  try {
    return decodeFrame(data, decompressed_bytes_max)
  } catch (error) {
    if (!(error instanceof MalformedFrame)) throw error
    logger.error({ err: error, message_id: id }, 'calls in the journal could not be read')
    return undefined
  }
}

/** Resolves with false when the signal ended it. */
async function recover(
  message: ReadMessage,
  options: RecoverOptions,
  calls: RecoveredCalls,
): Promise<boolean> {
  const { exchanges } = message
  const project_id = exchanges[0]?.facts.project_id
  if (project_id === undefined) return true
  const policy = await readPolicy(project_id, options, message.signal)
  if (policy?.is_unknown) return false
  if (policy === undefined || policy.keeps_all) {
    return publishMessage(message, options, calls)
  }
  // The policy has changed since.
  for (const exchange of exchanges) {
    const call = toLedgerRequest(exchange.facts)
    const outcome = await options.capture?.take(exchange, { policy, call })
    if (outcome?.state === 'lost') return false
    if (outcome?.state === 'refused') {
      calls.refused += 1
      options.onAccepted?.([rejectedEntry(call, { [outcome.reason]: 1 })])
    } else calls.published += 1
  }
  return true
}

/** Reads a policy; waits while it is unknown, because the calls are safe and their content is wanted. */
async function readPolicy(
  project_id: string,
  { capture }: RecoverOptions,
  signal: AbortSignal,
): Promise<CapturePolicy | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const policy = await capture?.policyOf(project_id)
    if (!policy?.is_unknown || signal.aborted) return policy
    await sleep(backOff(pause, attempt), signal)
  }
}

/** Resolves with false when the signal ended it. */
async function publishMessage(
  message: ReadMessage,
  options: RecoverOptions,
  calls: RecoveredCalls,
): Promise<boolean> {
  const { id, subject, exchanges, signal } = message
  if (message.data.length <= options.message_bytes_max) {
    return publishUntilDurable(message, options, calls)
  }
  for (const [at, exchange] of exchanges.entries()) {
    const compressed = await compressToFit(exchange, options.message_bytes_max)
    if (compressed === undefined) {
      loseTooLarge([exchange], options, calls)
      continue
    }
    const own = exchanges.length === 1 ? id : derivedId(id, String(at))
    const part = { id: own, subject, data: compressed, exchanges: [exchange], signal }
    if (!(await publishUntilDurable(part, options, calls))) return false
  }
  return true
}

/** Resolves with false when the signal ended it. */
async function publishUntilDurable(
  { id, subject, data, exchanges, signal }: ReadMessage,
  options: RecoverOptions,
  counts: RecoveredCalls,
): Promise<boolean> {
  const { publish, retry = defaultRetry, logger } = options
  const message = { id, subject, data }
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const failure = await publishWithRetries(publish, message, retry)
    if (failure === undefined) {
      const calls = exchanges.map(({ facts }) => toLedgerRequest(facts))
      options.onAccepted?.(calls.map((call) => acceptedEntry(call, message.id, 1)))
      counts.published += exchanges.length
      return true
    }
    if (failure instanceof MessageTooLarge) {
      logger.error({ err: failure }, 'a call in the journal is too large for the queue')
      loseTooLarge(exchanges, options, counts)
      return true
    }
    await sleep(backOff(pause, attempt), signal)
  }
  return false
}

/** Counts calls that the queue cannot hold, here and in the ledger, as a running process would. */
function loseTooLarge(
  exchanges: readonly Exchange[],
  { onAccepted }: RecoverOptions,
  counts: RecoveredCalls,
): void {
  counts.too_large += exchanges.length
  onAccepted?.(exchanges.map(({ facts }) => lostEntry(toLedgerRequest(facts), { too_large: 1 })))
}
