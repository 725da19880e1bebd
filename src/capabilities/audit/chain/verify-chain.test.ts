import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPublicKeys, toJwks } from '../../signing/index.ts'
import {
  type Checkpoint,
  digestCheckpoint,
  openCheckpoint,
  type SignedCheckpoint,
  signCheckpoint,
} from './checkpoint.ts'
import { commitTo, createDetail, type Detail } from './commitment.ts'
import { type ChainHead, emptyHead, linkRecord, type RecordFields } from './record.ts'
import { type ChainReport, ChainVerifier, type RecordWithDetails } from './verify-chain.ts'

const chain_id = '0199fa1c-9f5e-7c7e-8c65-2f1d3a4b5c6d'
const key = generateKeyPairSync('ed25519').privateKey
const keys = readPublicKeys(JSON.stringify(toJwks([key])))

type Content = { action: string; resource_id: string | null; address: string | null }

const content: fc.Arbitrary<Content> = fc.record({
  action: fc.string({ maxLength: 12 }),
  resource_id: fc.option(fc.string({ maxLength: 8 }), { nil: null }),
  address: fc.option(fc.ipV4(), { nil: null }),
})
const chains = fc.array(content, { minLength: 1, maxLength: 24 }).map((items) => build(items))

function fieldsOf({ action, resource_id }: Content, origin?: Detail): RecordFields {
  return {
    ...{ chain_id, recorded_at: '2026-03-01T00:00:00.000Z', action, outcome: 'succeeded' },
    ...{ code: null, actor_kind: 'user', actor_id: 'a', via: 'api', resource_type: 'tasks' },
    ...{ resource_id, project_id: null, request_id: 'r', suppressed: 0 },
    ...{ segment_count: null, segment_hash: null, change_hash: null },
    origin_hash: origin === undefined ? null : commitTo('origin', origin),
  }
}

function build(items: readonly Content[]): RecordWithDetails[] {
  const records: RecordWithDetails[] = []
  let head: ChainHead = emptyHead
  for (const item of items) {
    const origin = item.address === null ? undefined : createDetail({ address: item.address })
    const record = linkRecord(fieldsOf(item, origin), head)
    records.push({ ...record, ...(origin && { details: { origin } }) })
    head = record
  }
  return records
}

/** Signs checkpoints at these numbers, and reads them back. */
function checkpointsAt(
  records: readonly RecordWithDetails[],
  seqs: readonly number[],
  kind: Checkpoint['kind'] = 'head',
): SignedCheckpoint[] {
  let previous: string | null = null
  return seqs.map((seq) => {
    const head = records[seq - 1]?.hash ?? emptyHead.hash
    const time = '2026-03-01T01:00:00Z'
    const value: Checkpoint = { kind, chain_id, seq, count: seq, head, time, previous }
    previous = digestCheckpoint(value)
    return openCheckpoint(JSON.stringify(signCheckpoint(value, key)), keys)
  })
}

function verify(
  records: readonly RecordWithDetails[],
  checkpoints: readonly SignedCheckpoint[],
): ChainReport {
  const verifier = new ChainVerifier(checkpoints)
  for (const record of records) verifier.add(record)
  return verifier.finish()
}

const at = fc.nat({ max: 1_000 })

describe('a chain', () => {
  test('without a change has no faults', () => {
    fc.assert(
      fc.property(chains, at, (records, pick) => {
        const middle = 1 + (pick % records.length)
        const checkpoints = checkpointsAt(
          records,
          [...new Set([middle, records.length])].sort((a, b) => a - b),
        )
        const report = verify(records, checkpoints)
        expect(report).toMatchObject({ faults: [], protected_seq: records.length, erased: 0 })
      }),
    )
  })

  test('shows any changed field of any record, also when its hash is computed again', () => {
    const names = ['action', 'recorded_at', 'actor_id', 'request_id', 'outcome', 'code'] as const
    fc.assert(
      fc.property(
        chains,
        at,
        fc.constantFrom(...names),
        fc.boolean(),
        (records, pick, name, rehash) => {
          const index = pick % records.length
          const changed = records.map((record, i) =>
            i === index ? { ...record, [name]: `${record[name]}x` } : record,
          )
          const record = changed[index]
          const before = index === 0 ? emptyHead : changed[index - 1]
          if (rehash && record && before)
            changed[index] = { ...record, ...linkRecord(record, before) }
          expect(verify(changed, checkpointsAt(records, [records.length])).faults).not.toEqual([])
        },
      ),
    )
  })

  test('shows each deleted and each inserted record', () => {
    fc.assert(
      fc.property(chains, at, content, (records, pick, more) => {
        const checkpoints = checkpointsAt(records, [records.length])
        const index = pick % records.length
        const without = records.toSpliced(index, 1)
        const before = index === 0 ? emptyHead : records[index - 1]
        const inserted = linkRecord(fieldsOf(more), before ?? emptyHead)
        expect(verify(without, checkpoints).faults).not.toEqual([])
        expect(verify(records.toSpliced(index, 0, inserted), checkpoints).faults).not.toEqual([])
      }),
    )
  })

  test('that was truncated, deleted or rewritten is valid by itself, but not with its checkpoints', () => {
    fc.assert(
      fc.property(chains, fc.array(content, { maxLength: 24 }), at, (records, other, pick) => {
        const checkpoints = checkpointsAt(records, [records.length])
        const cut = records.slice(0, pick % records.length)
        const rewritten = build(other.map((item) => ({ ...item, action: `${item.action}!` })))
        for (const forged of [cut, [], rewritten]) {
          expect(verify(forged, []).faults).toEqual([])
          expect(verify(forged, checkpoints).faults).not.toEqual([])
        }
      }),
    )
  })

  test('shows a changed detail, and accepts an erased one', () => {
    fc.assert(
      fc.property(chains, (records) => {
        const erased = records.map(({ details: _details, ...record }) => record)
        const report = verify(erased, checkpointsAt(records, [records.length]))
        const committed = records.filter(({ origin_hash }) => origin_hash !== null)
        expect(report).toMatchObject({ faults: [], erased: committed.length })
        const other = createDetail({ address: 'other' })
        const forged = records.map((record) => ({ ...record, details: { origin: other } }))
        expect(verify(forged, []).faults).toHaveLength(records.length)
      }),
    )
  })

  test('may miss a prefix only with a signed statement', () => {
    fc.assert(
      fc.property(chains, at, (records, pick) => {
        const cut = 1 + (pick % records.length)
        const rest = records.slice(cut)
        const pruned = checkpointsAt(records, [cut], 'pruned')
        expect(verify(rest, pruned).faults).toEqual([])
        const head = checkpointsAt(records, [cut])
        expect(verify(rest, head).faults).not.toEqual([])
      }),
    )
  })

  test('needs every checkpoint, and shows two that contradict', () => {
    const records = build(
      Array.from({ length: 9 }, () => ({ action: 'a', resource_id: null, address: null })),
    )
    const [first, second, third] = checkpointsAt(records, [3, 6, 9])
    if (!first || !second || !third) throw new Error('no checkpoints')
    expect(verify(records, [first, third]).faults).toMatchObject([{ kind: 'checkpoint_missing' }])
    const forked = { ...second, head: 'f'.repeat(64) }
    expect(verify(records, [first, second, third, forked]).faults[0]).toMatchObject({
      ...{ kind: 'checkpoint_conflict', seq: 6 },
    })
  })
})

test('a checkpoint with another signature or content is refused', () => {
  const [value] = checkpointsAt([], [0])
  if (value === undefined) throw new Error('no checkpoint')
  const { digest: _digest, keyid: _keyid, ...payload } = value
  const envelope = signCheckpoint(payload, generateKeyPairSync('ed25519').privateKey)
  expect(() => openCheckpoint(JSON.stringify(envelope), keys)).toThrow('expected the keyid')
  const good = signCheckpoint(payload, key)
  const forged = {
    ...good,
    payload: Buffer.from(JSON.stringify({ ...payload, seq: 1 })).toString('base64'),
  }
  expect(() => openCheckpoint(JSON.stringify(forged), keys)).toThrow('expected a signature')
})
