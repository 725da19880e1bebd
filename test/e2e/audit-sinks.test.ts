import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cliCommands, commandOf, runCommand, terminalIo } from '../../src/cli/index.ts'
import {
  type AuditShape,
  adminCalls,
  auditFolder,
  startAuditShape,
  withDatabase,
} from '../support/audit-shapes.ts'
import { main } from '../support/bundle.ts'
import { childEnv } from '../support/child-env.ts'
import { eventually } from '../support/eventually.ts'
import { type Receiver, startReceiver, status } from '../support/receiver.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'
import { budget, quarterOf } from '../support/suite/budget.ts'

/** Both shapes run the same code; in a cluster another process publishes than the one that signs. */
const shapes = ['separate processes', 'role all'] as const
const shapes_used = budget({ test: 1, soak: 2 })

/** Checkpoints on their way to real sinks, and tampering that `looptrace audit verify` finds. */
describe.each(shapes.slice(0, shapes_used))('in %s', (kind) => {
  let parts: AsyncDisposableStack
  let shape: AuditShape
  let receiver: Receiver
  let s3: S3Server
  let folder: string
  let call: Awaited<ReturnType<typeof adminCalls>>

  beforeAll(async () => {
    parts = new AsyncDisposableStack()
    folder = parts.use(await auditFolder()).path
    receiver = await startReceiver()
    parts.defer(() => receiver.close())
    s3 = await startS3Server({ directory: join(folder, 's3') })
    parts.defer(() => s3.stop())
    shape = parts.use(
      await startAuditShape(kind, {
        LOOPTRACE_AUDIT_CHECKPOINT_SINKS: [
          pathToFileURL(join(folder, 'checkpoints')).href,
          `s3://${s3.bucket}/audit`,
          `${receiver.url}/checkpoints`,
          'stdout',
        ].join(','),
        LOOPTRACE_AUDIT_CHECKPOINT_POLL_MS: '250',
        LOOPTRACE_BLOBS_S3_ENDPOINT: s3.endpoint,
        LOOPTRACE_BLOBS_S3_REGION: s3.region,
        LOOPTRACE_BLOBS_S3_ACCESS_KEY_ID: s3.access_key_id,
        LOOPTRACE_BLOBS_S3_SECRET_ACCESS_KEY: s3.secret_access_key,
        LOOPTRACE_BLOBS_S3_PATH_STYLE: 'true',
        LOOPTRACE_BLOBS_S3_ATTEMPTS_MAX: '1',
        LOOPTRACE_BLOBS_S3_REQUEST_TIMEOUT_MS: '1000',
        LOOPTRACE_OUTBOUND_ALLOWED: `127.0.0.0/8:${receiver.port}`,
      }),
    )
    call = await adminCalls(shape)
  }, 240_000)
  afterAll(() => parts.disposeAsync())

  const query = async (text: string) =>
    (await withDatabase(await shape.postgresUrl(), (client) => client.query(text))).rows
  const keys = () => `/api/v2/access/projects/${shape.login.project_id}/api-keys`
  const chain = () => shape.login.organization_id

  /** Makes a change and its checkpoint due. Returns the number of its record at least. */
  async function due(name: string): Promise<number> {
    expect((await call('POST', keys(), { name })).status).toBe(201)
    await query(`update audit_chains set checkpoint_at = now() - interval '2 hours'`)
    const [row] = await query(`select seq from audit_chains where chain_id = '${chain()}'`)
    return Number(row?.['seq'])
  }

  const untilSigned = (seq: number) =>
    eventually(
      'the checkpoint is signed',
      async () =>
        (
          await query(`select 1 from audit_checkpoints where chain_id = '${chain()}'
            and seq >= ${seq}`)
        ).length > 0,
      { timeout_ms: 40_000 },
    )
  const unpublished = () => query('select seq from audit_checkpoints where published_at is null')
  const untilPublished = async (seq: number) => {
    await untilSigned(seq)
    const isDone = async () => (await unpublished()).length === 0
    await eventually('all checkpoints are published', isDone, { timeout_ms: 40_000 })
  }

  async function filesIn(directory: string): Promise<Map<string, string>> {
    const names = (await readdir(directory, { recursive: true })).filter((name) =>
      name.endsWith('.json'),
    )
    const texts = names.map((name) => readFile(join(directory, name), 'utf8'))
    return new Map((await Promise.all(texts)).map((text, at) => [names[at] ?? '', text]))
  }

  test('each sink has the same checkpoints', async () => {
    await untilPublished(await due('first'))
    const inFolder = await filesIn(join(folder, 'checkpoints'))
    expect(inFolder.size).toBeGreaterThan(0)
    expect(await filesIn(join(s3.bucket_directory, 'audit'))).toEqual(inFolder)
    const received = receiver.received.map(({ headers, body }) => [
      String(headers['x-checkpoint-name']),
      body,
    ])
    expect(new Map(received as [string, string][])).toEqual(inFolder)
    for (const envelope of inFolder.values()) expect(shape.output()).toContain(envelope)
  }, 90_000)

  const outages: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    ['an S3 server that refuses connections', () => s3.kill(), () => s3.restart()],
    [
      'a folder that can not be written',
      async () => {
        await rename(join(folder, 'checkpoints'), join(folder, 'kept'))
        await writeFile(join(folder, 'checkpoints'), 'a file in the place of the folder')
      },
      async () => {
        await rm(join(folder, 'checkpoints'))
        await rename(join(folder, 'kept'), join(folder, 'checkpoints'))
      },
    ],
    [
      'a webhook that answers with errors',
      async () => {
        receiver.answer = status(503)
      },
      async () => {
        receiver.answer = status(200)
      },
    ],
    [
      'a webhook that does not answer',
      async () => {
        receiver.answer = () => undefined
      },
      async () => {
        receiver.answer = status(200)
      },
    ],
  ]

  test.each(quarterOf(outages))(
    '%s delays checkpoints, and loses none',
    async (name, fail, mend) => {
      const failures = () => shape.output().split('a chore failed').length
      const before = failures()
      await fail()
      const seq = await due(name)
      await untilSigned(seq)
      await eventually('the failure is logged', () => failures() > before, {
        timeout_ms: 40_000,
      })
      expect((await unpublished()).length).toBeGreaterThan(0)
      await mend()
      await untilPublished(seq)
      const inFolder = await filesIn(join(folder, 'checkpoints'))
      expect(await filesIn(join(s3.bucket_directory, 'audit'))).toEqual(inFolder)
      const count = await query('select 1 from audit_checkpoints')
      expect(inFolder.size).toBe(count.length)
    },
    120_000,
  )

  /** Exports the chain as an auditor does. Returns the arguments that verify the export. */
  async function exportChain(): Promise<string[]> {
    const place = join(folder, 'export')
    await mkdir(place, { recursive: true })
    const lines: string[] = []
    for (let after = 0; ; ) {
      const page = await call('GET', `/api/v2/audit/export?after_seq=${after}`)
      const text = page.text.trim()
      if (text === '') break
      lines.push(text)
      const last = Math.max(...text.split('\n').map((line) => JSON.parse(line).seq))
      if (last <= after) break
      after = last
    }
    await writeFile(join(place, 'records.ndjson'), lines.join('\n'))
    const words = ['audit', 'verify', join(place, 'records.ndjson'), '--chain', chain()]
    const trusted = ['--checkpoints', join(folder, 'checkpoints'), '--keys', join(folder, 'jwks')]
    return [...words, ...trusted]
  }

  /** Verifies the chain against the published checkpoints, with `looptrace` as a process. */
  async function verify(): Promise<{ status: number; output: string }> {
    const args = await exportChain()
    return promisify(execFile)(process.execPath, [main, ...args], {
      env: childEnv(),
    }).then(
      ({ stdout }) => ({ status: 0, output: stdout }),
      ({ code, stdout, stderr }) => ({ status: code, output: `${stdout}${stderr}` }),
    )
  }

  /** Verifies the chain with the same command in this process, which starts faster. */
  async function verifyHere(): Promise<{ status: number; output: string }> {
    const found = commandOf(cliCommands, await exportChain())
    if (found === undefined) throw new Error('there is no command `audit verify`')
    let output = ''
    const print = (text: string) => {
      output += text
    }
    const status = await runCommand(found.command, found.args, {
      ...terminalIo(new AbortController().signal),
      ...{ out: print, err: print },
    })
    return { status, output }
  }

  describe('with access to the database', () => {
    const tables = ['audit_records', 'audit_chains', 'audit_checkpoints', 'audit_keys']

    beforeAll(async () => {
      for (let at = 0; at < 5; at += 1) await call('POST', keys(), { name: `more ${at}` })
      await untilPublished(await due('last'))
      await writeFile(join(folder, 'jwks'), (await call('GET', '/api/v2/audit/keys')).text)
      for (const table of tables) await query(`create table kept_${table} as table ${table}`)
    }, 90_000)

    async function restore(): Promise<void> {
      for (const table of tables) {
        await query(`truncate ${table}; insert into ${table} select * from kept_${table}`)
      }
    }

    const attacks: [string, string][] = [
      ['an edited record', `update audit_records set actor_id = 'x' where seq = 3 and #`],
      [
        'an edited record with a new hash',
        `update audit_records set actor_id = 'x', hash = sha256(hash) where seq = 3 and #`,
      ],
      [
        'an edited detail',
        `update audit_records set change_value = '{"after":{"name":"other"}}'
         where change_value is not null and #`,
      ],
      [
        'an inserted record',
        `update audit_records set seq = seq + 100000 where seq > 2 and #;
         insert into audit_records (chain_id, seq, recorded_at, action, outcome, actor_kind, via,
           resource_type, request_id, suppressed, hash)
         select chain_id, 3, recorded_at, 'forged', 'succeeded', 'user', 'api', 'x', 'x', 0,
           sha256(hash) from audit_records where seq = 2 and #;
         update audit_records set seq = seq - 100000 + 1 where seq > 100000 and #`,
      ],
      ['a deleted record', `delete from audit_records where seq = 3 and #`],
      [
        'a truncated chain',
        `delete from audit_records where seq > 3 and #;
         update audit_chains set seq = 3,
           hash = (select hash from audit_records where seq = 3 and #) where #`,
      ],
      ['a deleted chain', `delete from audit_records where #; delete from audit_chains where #`],
      [
        'a chain that was written again, with its checkpoints deleted',
        `do $$ declare r record; h bytea := decode(repeat('00', 32), 'hex'); begin
           for r in select * from audit_records where # order by seq loop
             h := sha256(h || r.hash);
             update audit_records set hash = h, actor_id = 'x'
             where chain_id = r.chain_id and seq = r.seq;
           end loop;
           update audit_chains set hash = h where #;
         end $$;
         delete from audit_checkpoints where #`,
      ],
    ]

    test('a cut of records, checkpoints and head shows in the service by the sinks', async () => {
      const check = async () => (await call('GET', '/api/v2/audit/verify?after=0')).json()
      expect(await check()).toMatchObject({ valid: true, sinks_compared: 2, faults: [] })
      const first = `select min(seq) from audit_checkpoints where chain_id = '${chain()}'`
      const digest = `sha256(decode(envelope::json ->> 'payload', 'base64'))`
      try {
        await query(
          `
          delete from audit_records where # and seq > (${first});
          delete from audit_checkpoints where # and seq > (${first});
          update audit_chains set (seq, hash, checkpoint_seq) =
            (select seq, hash, seq from audit_records where # order by seq desc limit 1),
            checkpoint_digest = (select ${digest} from audit_checkpoints where #)
          where #`.replaceAll('#', `chain_id = '${chain()}'`),
        )
        const { valid, sinks_compared, faults } = await check()
        expect({ valid, sinks_compared }).toEqual({ valid: false, sinks_compared: 2 })
        expect(faults.map(({ kind }: { kind: string }) => kind)).toContain('truncated')
      } finally {
        await restore()
      }
    }, 60_000)

    test.each(quarterOf(attacks))(
      '%s is found by `looptrace audit verify`',
      async (_name, attack) => {
        const untouched = await verifyHere()
        expect(untouched.output).toMatch(/\bvalid\n$/)
        expect(untouched.status).toBe(0)
        try {
          await query(attack.replaceAll('#', `chain_id = '${chain()}'`))
          const found = await verify()
          expect(found.output).toMatch(/not valid|the file has no records/)
          expect(found.status).not.toBe(0)
        } finally {
          await restore()
        }
      },
      60_000,
    )
  })
})
