import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'
import { optionalIntegerParameter } from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { verifyStoredChain } from '../checkpoints/verify-stored-chain.ts'
import { type AuditDeps, auditScope, chainErrors, chainQuery, findChainId } from './contract.ts'

/** Time after which a check ends and reports the checked part. */
const verify_ms_max = 10_000

/** Maximum concurrent checks of a process. Each chain has at most one. */
const checks_max = 2

/** GET /api/v2/audit/verify: checks the chain against its checkpoints. */
export function verifyChain(deps: AuditDeps): Route {
  const inSlot = createSlots()
  const { db, clock, sources = [], verify_ms_max: time_ms_max = verify_ms_max } = deps
  return defineRoute({
    method: 'GET',
    url: '/api/v2/audit/verify',
    id: 'verifyAuditChain',
    summary: 'Check the chain against its checkpoints, sinks and streams',
    auth: 'jwt',
    scope: auditScope,
    query: z.strictObject({
      ...chainQuery,
      after: optionalIntegerParameter({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Checks only the records after this number, which an earlier call has checked. 0: from the first record on. Default: about the newest 100,000 records.',
      }),
    }),
    reply: record('AuditVerification', {
      chain_id: z.uuid(),
      valid: z.boolean().describe('Whether there are no faults in the checked records.'),
      next_after: z
        .int()
        .nullable()
        .describe(
          '`after` of the next call, if the time limit of 10 s ended this one. null: the check reached the end of the chain.',
        ),
      from_seq: z.int().describe('The first record that was checked.'),
      seq: z.int().describe('The last record that was checked.'),
      records: z.int().describe('Checked records.'),
      pruned_seq: z.int().describe('Records up to this one were deleted by retention. 0: none.'),
      protected_seq: z
        .int()
        .describe('Number of the newest checkpoint. Later records are not protected yet. 0: none.'),
      protected_at: z.iso
        .datetime()
        .nullable()
        .describe('Time of the newest checkpoint; null without one.'),
      checkpoints: z.int().describe('Checkpoints that were used.'),
      sinks_compared: z.int().describe('Sinks whose checkpoints were compared with the chain.'),
      streams_compared: z.int().describe('Streams whose position was compared with the chain.'),
      erased: z.int().describe('Details that were erased.'),
      faults: z.array(
        record('AuditFault', {
          kind: z.string(),
          seq: z.int().describe('Number of the record at which the fault shows.'),
          detail: z.string(),
        }),
      ),
    }),
    errors: [...chainErrors, 'rate_limited', 'store_unavailable'],
    handle: async ({ query: { chain, after }, caller, signal }) => {
      const chain_id = await findChainId(deps, { chain, caller })
      const end_ms = clock.now_ms() + time_ms_max
      const isOver = () => clock.now_ms() >= end_ms
      const { head, faults, ...report } = await inSlot(chain_id, () =>
        verifyStoredChain(db, { chain_id, after, signal, isOver, sources }),
      )
      return { ...report, chain_id, valid: faults.length === 0, seq: head.seq, faults: [...faults] }
    },
  })
}

/** Returns a function that runs a check in a slot. It throws `rate_limited` without a free one. */
function createSlots() {
  const slots = new Semaphore({ permits_max: checks_max })
  const chains = new Set<string>()
  return async <T>(chain_id: string, check: () => Promise<T>): Promise<T> => {
    if (chains.has(chain_id)) throw refusal('checks of a chain at one time: 1')
    if (!slots.tryAcquire()) throw refusal(`checks at one time: ${checks_max}`)
    chains.add(chain_id)
    try {
      return await check()
    } finally {
      chains.delete(chain_id)
      slots.release()
    }
  }
}

function refusal(limit: string) {
  const detail = `Limit reached: ${limit}. Try again shortly.`
  return problem('rate_limited', { detail, retry_after_s: retryAfterSeconds })
}

const retryAfterSeconds = 5
