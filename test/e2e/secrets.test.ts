import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { printCounts } from '../support/print-counts.ts'
import { recordCounts, untilAllRecorded } from '../support/quiet.ts'
import { contentMark, repeatingScript, sendSecrets } from '../support/secret-traffic.ts'
import { filesWith, Secrets } from '../support/secrets.ts'
import { openTestColumnar, startSingleMachine } from '../support/single-machine.ts'
import { soakOnly } from '../support/suite/budget.ts'
import { startTraceSink } from '../support/trace-sink.ts'

const serverPasswords = ['postgres/password', 'clickhouse/password']

test('no secret is in a log, metric, trace, refusal, store, queue or spool of a cluster', async () => {
  const secrets = new Secrets()
  await using sink = await startTraceSink()
  await using cluster = await startCluster({
    env: {
      LOOPTRACE_LOG_LEVEL: 'trace',
      LOOPTRACE_OTLP_TRACES_URL: sink.url,
      LOOPTRACE_SECRET_KEY: secrets.add('secret key', 'Kq8-the-secret-key-of-this-test-2Lw'),
    },
    script: repeatingScript,
  })
  const postgres = new URL(cluster.postgres.server().url)
  secrets.add('password of PostgreSQL', postgres.password)
  secrets.add('password of ClickHouse', cluster.clickhouse.server().password)

  await cluster.worker.stop()
  await warmKey(cluster)
  await cluster.nats.stop()
  const { api, proxy } = cluster
  const target = { proxy_url: proxy.base_url, api_url: api.base_url, login: cluster.login }
  const refusals = await sendSecrets(target, secrets)
  const inSpool = await filesWith(join(cluster.directory, 'proxy'), contentMark)
  await cluster.nats.restart()
  await eventually(
    'the spool is empty',
    async () => (await recordCounts(proxy.management_url)).in_spool === 0,
    { timeout_ms: 30_000, interval_ms: 50 },
  )
  const inQueue = await filesWith(join(cluster.directory, 'nats'), contentMark)
  await cluster.worker.start()
  await untilAllRecorded({
    proxy: proxy.management_url,
    worker: cluster.worker.management_url,
  })
  const relational = await relationalText(postgres.href)
  const columnar = await columnarText(cluster)
  await provokeStoreErrors(cluster)
  const metrics = await metricsOf(cluster)
  await Promise.all([cluster.proxy.stop(), cluster.api.stop(), cluster.worker.stop()])

  // Each place is searched for something that it must contain, to prove that the search works.
  expect(inSpool).not.toEqual([])
  expect(inQueue).not.toEqual([])
  expect(columnar).toContain(contentMark)
  expect(columnar).toContain('Incorrect API key provided: [redacted]')
  expect(relational).toContain('secrets-task')
  expect(cluster.output()).toContain('"level":"error"')
  expect(Buffer.concat(sink.bodies).includes('createToken')).toBe(true)

  const places = {
    refusals: refusals.join('\n'),
    output: cluster.output(),
    metrics,
    traces: Buffer.concat(sink.bodies),
    relational,
    columnar,
  }
  const found = Object.entries(places).map(([place, text]) => [place, secrets.in(text)])
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.keys(places).map((place) => [place, []])),
  )
  expect(await secrets.inFiles(cluster.directory, serverPasswords)).toEqual([])
  printCounts('cluster, secrets', {
    secrets: secrets.names.length,
    refusals: refusals.length,
    output_bytes: cluster.output().length,
  })
}, 300_000)

test(
  'on one machine secrets are only in the files meant for them',
  soakOnly(
    'The cluster above is searched in make test; all-role.test.ts checks the modes of the files with secrets.',
    { timeout: 300_000 },
  ),
  async () => {
    const secrets = new Secrets()
    await using machine = await startSingleMachine({
      first: true,
      env: { LOOPTRACE_LOG_LEVEL: 'trace' },
      script: repeatingScript,
    })
    const { directory, service, login } = machine
    const designated = ['first-login.json', 'secret-key', ...serverPasswords]
    for (const file of designated) {
      expect((await stat(join(directory, file))).mode & 0o777, file).toBe(0o600)
      if (file === 'first-login.json') continue
      secrets.add(file, (await readFile(join(directory, file), 'utf8')).trim())
    }
    const urls = { proxy_url: service.base_url, api_url: service.base_url }
    const refusals = await sendSecrets({ ...urls, login }, secrets)
    const { management_url } = service
    await untilAllRecorded({ proxy: management_url, worker: management_url })
    const first = service.output()
    await service.kill()

    expect(await filesWith(join(directory, 'queue'), contentMark)).not.toEqual([])
    expect(secrets.in(refusals.join('\n'))).toEqual([])
    // The greeting shows the first login once; log lines never do.
    const logged = first.split('\n').filter((line) => line.startsWith('{'))
    expect(secrets.in(first)).toEqual(expect.arrayContaining(['project key', 'password']))
    expect(secrets.in(logged.join('\n'))).toEqual([])
    expect(await secrets.inFiles(directory, designated)).toEqual([])
    await service.start()
    expect(secrets.in(service.output().slice(first.length))).toEqual([])
    printCounts('role all, secrets', {
      secrets: secrets.names.length,
      refusals: refusals.length,
      log_lines: logged.length,
    })
  },
)

/** One call, so that the proxy knows the key before the stores become unavailable. */
async function warmKey({ proxy, login }: Cluster): Promise<void> {
  const answer = await fetch(`${proxy.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': login.project_key,
      authorization: 'Bearer a-key-for-the-provider',
    },
    body: JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(answer.status).toBe(200)
}

/**
 * Both stores become unavailable during requests, so that the errors of their drivers are logged.
 */
async function provokeStoreErrors(cluster: Cluster): Promise<void> {
  await Promise.all([cluster.postgres.stop(), cluster.clickhouse.stop()])
  const headers = { 'x-api-key': cluster.login.project_key }
  const tasks = `${cluster.api.base_url}/api/v1/tasks`
  await eventually('the API says 503', async () => {
    return (await fetch(tasks, { headers })).status === 503
  })
}

async function metricsOf({ proxy, api, worker }: Cluster): Promise<string> {
  const texts = [proxy, api, worker].map(async ({ management_url }) => {
    return (await fetch(`${management_url}/metrics`)).text()
  })
  return (await Promise.all(texts)).join('\n')
}

/** Every row of every table as text; bytes as hex. */
async function relationalText(url: string): Promise<string> {
  const relational = openRelational<unknown>({
    scope: allTenants,
    url,
    pool_max: 1,
    connect_timeout_ms: 10_000,
    statement_timeout_ms: 10_000,
    logger: createLogger({ role: 'test', level: 'fatal' }),
  })
  try {
    const { rows } = await relational.pool.query<{ text: string }>(
      `select query_to_xml(format('select t::text from %I.%I t', schemaname, tablename),
         true, false, '')::text as text
       from pg_tables where schemaname = 'public'`,
    )
    expect(rows.length).toBeGreaterThan(10)
    return rows.map(({ text }) => text).join('\n')
  } finally {
    await relational.close()
  }
}

/** Every column of every observation as JSON. */
async function columnarText(cluster: Cluster): Promise<string> {
  const columnar = openTestColumnar(cluster.clickhouse.server())
  try {
    const rows = await columnar.query<Record<string, unknown>>('select * from observations')
    return rows.map((row) => JSON.stringify(row)).join('\n')
  } finally {
    await columnar.close()
  }
}
