import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { openSealed, type SealedFor, sealValue } from '../../../kernel/sealed-value.ts'
import type { Clock } from '../../../kernel/time.ts'
import { type AuditTables, type Kysely, sql } from '../../../platform/relational/index.ts'
import { type PublicKeys, readKeyId, toJwks } from '../../signing/index.ts'

type Db = Kysely<AuditTables>

/** Maximum keys that are read. A key is created only after the service's secret has changed. */
const keys_max = 100

/**
 * Returns the key that signs checkpoints: the newest key that the service's secret can decrypt, or
 * a new key. One worker at a time creates a key.
 */
export function openSigningKey(
  db: Db,
  { secret_key, clock }: { secret_key: string; clock: Clock },
): Promise<KeyObject> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('looptrace.audit_keys'))`.execute(trx)
    for (const { id, private_key_encrypted } of await selectKeys(trx)) {
      const pkcs8 = openSealed(private_key_encrypted, sealedFor(secret_key, id))
      if (pkcs8 !== undefined) return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
    }
    return insertKey(trx, { secret_key, clock })
  })
}

async function insertKey(db: Db, { secret_key, clock }: { secret_key: string; clock: Clock }) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const id = readKeyId(publicKey)
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  await db
    .insertInto('audit_keys')
    .values({
      id,
      public_key: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
      private_key_encrypted: sealValue(pkcs8, sealedFor(secret_key, id)),
      created_at: new Date(clock.now_ms()),
    })
    .execute()
  return privateKey
}

/** Returns the public keys of checkpoints by keyid. */
export async function readCheckpointKeys(db: Db): Promise<PublicKeys> {
  const rows = await selectKeys(db)
  return new Map(rows.map(({ id, public_key }) => [id, createPublicKey(public_key)]))
}

/** Returns the public keys of checkpoints as a JWKS. */
export async function readJwks(db: Db) {
  const keys = await readCheckpointKeys(db)
  return {
    keys: toJwks([...keys.values()]).keys.map(({ kty = '', crv = '', x = '', ...key }) => ({
      kty,
      crv,
      x,
      kid: String(key['kid']),
      use: 'sig',
    })),
  }
}

function selectKeys(db: Db) {
  return db
    .selectFrom('audit_keys')
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(keys_max)
    .execute()
}

function sealedFor(secret_key: string, id: string): SealedFor {
  return { secret_key, purpose: 'audit checkpoints', about: id }
}
