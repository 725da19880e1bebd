import { expect, test } from 'vitest'
import { decideRotation, maySign } from './signing-keys.ts'
import type { Rotation, SigningKeyRow } from './store.ts'

const day = 24 * 60 * 60 * 1000
const rules = { rotate_after_ms: 30 * day, publish_before_ms: 600_000, token_ttl_ms: 3_600_000 }
const secret_key = 's'.repeat(32)
const start = Date.UTC(2026, 0, 1)
const at = (now_ms: number, secret = secret_key) => ({
  now: new Date(now_ms),
  secret_key: secret,
  rules,
})

function rowOf({ add }: Rotation, retires_at: Date | null = null): SigningKeyRow {
  return {
    ...add,
    created_at: add.created_at.toISOString(),
    activates_at: add.activates_at.toISOString(),
    retires_at: retires_at?.toISOString() ?? null,
  }
}

async function rotation(rows: SigningKeyRow[], about = at(start)): Promise<Rotation> {
  const decided = await decideRotation(rows, about)
  if (decided === undefined) throw new Error('no rotation was due')
  return decided
}

test('the first key signs at once and its private part is sealed', async () => {
  const first = await rotation([])
  const { add, retire } = first
  expect(add.activates_at.getTime()).toBe(start)
  expect(retire.ids).toEqual([])
  expect(add.public_jwk).toMatchObject({ kty: 'OKP', crv: 'Ed25519', kid: add.id, alg: 'EdDSA' })
  expect(add.public_jwk).not.toHaveProperty('d')
  expect(add.private_key_encrypted.toString('latin1')).not.toContain('PRIVATE KEY')
  expect(maySign(rowOf(first), start, rules)).toBe(true)
})

test('a recent key is not rotated', async () => {
  const row = rowOf(await rotation([]))
  expect(await decideRotation([row], at(start + 29 * day))).toBeUndefined()
})

test('an old key signs until its successor does, and is published while its tokens are valid', async () => {
  const old = rowOf(await rotation([]))
  const due = start + 31 * day
  const { add, retire } = await rotation([old], at(due))
  expect(add.activates_at.getTime()).toBe(due + rules.publish_before_ms)
  expect(retire.ids).toEqual([old.id])
  const retiring = { ...old, retires_at: retire.at.toISOString() }
  expect(maySign(retiring, add.activates_at.getTime() - 1, rules)).toBe(true)
  expect(maySign(retiring, add.activates_at.getTime(), rules)).toBe(false)
  expect(retire.at.getTime()).toBeGreaterThan(add.activates_at.getTime() + rules.token_ttl_ms)
})

test('a successor that does not sign yet gets no successor', async () => {
  const old = rowOf(await rotation([]))
  const due = start + 31 * day
  const next = await rotation([old], at(due))
  const rows = [rowOf(next), { ...old, retires_at: next.retire.at.toISOString() }]
  expect(await decideRotation(rows, at(due))).toBeUndefined()
  expect(await decideRotation(rows, at(due + 601_000))).toBeUndefined()
})

test('another secret gets its own key and leaves keys that it can not decrypt', async () => {
  const foreign = rowOf(await rotation([]))
  const { add, retire } = await rotation([foreign], at(start + 1_000, 't'.repeat(32)))
  expect(add.activates_at.getTime()).toBe(start + 1_000)
  expect(retire.ids).toEqual([])
})

test('a key without a successor for two rotation periods is retired, also of another secret', async () => {
  const foreign = rowOf(await rotation([]))
  const { retire } = await rotation([foreign], at(start + 61 * day, 't'.repeat(32)))
  expect(retire.ids).toEqual([foreign.id])
})

test('a pod with a slow clock uses the key that another pod has just made', async () => {
  const made = rowOf(await rotation([]))
  expect(await decideRotation([made], at(start - 30_000))).toBeUndefined()
  expect(maySign(made, start - 30_000, rules)).toBe(true)
  expect(maySign(made, start - 61_000, rules)).toBe(false)
})
