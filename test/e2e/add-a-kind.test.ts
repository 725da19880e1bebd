import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { childEnv } from '../support/child-env.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiServer,
  apiServerStartTimeoutMs,
  startApiServer,
} from '../support/kube/api-server.ts'
import { grantProject } from '../support/kube/grants.ts'
import { type AlertService, startAlertService } from '../support/kube/usage-alert-service.ts'
import { type RunningScript, startScript } from '../support/running-script.ts'

const repository = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Follows docs/internals/add-a-kind.md in a copy of the repository. */
let copy: string
let generated: string
let yaml: string
let server: ApiServer
let namespace: string
let service: AlertService
let operator: RunningScript
const parts = new AsyncDisposableStack()

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'looptrace-kind-'))
  parts.defer(() => rm(copy, { recursive: true }))
  const figures = 'docs/reference/verification.figures.json'
  // The page of tests is generated from the tests and their durations.
  const suite = ['test/durations.json', 'test/support/suite']
  for (const part of ['src', 'scripts', 'crds', 'charts', 'package.json', figures, ...suite]) {
    await cp(join(repository, part), join(copy, part), { recursive: true })
  }
  await symlink(join(repository, 'node_modules'), join(copy, 'node_modules'))
  const guide = await readFile(join(repository, 'docs/internals/add-a-kind.md'), 'utf8')
  const files = [...guide.matchAll(/`(src\/\S+\.ts)`\n\n```ts\n([\s\S]*?)```/g)]
  expect(files).toHaveLength(3)
  for (const [, path = '', content = ''] of files) {
    await mkdir(join(copy, dirname(path)), { recursive: true })
    await writeFile(join(copy, path), content)
  }
  yaml = /```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''
  generated = (await run(process.execPath, ['scripts/generate.ts'], { cwd: copy })).stdout
  server = parts.use(await startApiServer())
  namespace = await server.namespace()
  service = parts.use(await startAlertService())
}, apiServerStartTimeoutMs)

afterAll(() => parts.disposeAsync())

async function looptrace(...args: string[]) {
  const env = childEnv({ KUBECONFIG: await server.kubeconfig() })
  return run(process.execPath, ['src/main.ts', ...args], { cwd: copy, env }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
}

test('one folder is enough for everything that is generated', async () => {
  for (const path of [
    'crds/usagealerts.looptrace.dev.yaml',
    'charts/looptrace/files/crds/usagealerts.looptrace.dev.yaml',
    'docs/reference/schemas/usagealert_v1alpha1.json',
  ]) {
    expect(generated.split('\n')).toContain(path)
  }
  const read = (path: string) => readFile(join(copy, path), 'utf8')
  expect(JSON.parse(await read('charts/looptrace/files/kinds.json'))).toContainEqual({
    plural: 'usagealerts',
    kind: 'UsageAlert',
  })
  expect(await read('src/operator/kinds/index.ts')).toContain('usageAlertKind')
  expect(await read('docs/reference/kinds.md')).toContain('## UsageAlert')
  expect(await read('docs/reference/kinds.md')).toContain('## RetentionPolicy')
})

test('the types are right', async () => {
  const config = {
    extends: join(repository, 'tsconfig.json'),
    include: ['src/operator/kinds/usage-alert', 'src/operator/kinds/index.ts'],
  }
  await writeFile(join(copy, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(repository, 'node_modules/typescript-7/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', '.'], { cwd: copy }).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
})

test('the API server accepts its CRD, and refuses what the rules forbid', async () => {
  expect(await server.kubectl(['create', '-f', join(copy, 'crds')])).toMatchObject({ status: 0 })
  await eventually('the kind is served', async () => {
    const { status } = await server.kubectl(['get', 'ualert', '-n', namespace])
    return status === 0
  })
  const neither = yaml.replace(/ {2}condition:[\s\S]*above: 10\n/, '')
  const refused = await server.kubectl(['create', '-n', namespace, '-f', '-'], { input: neither })
  expect(refused).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('expected either condition or burnRate'),
  })
})

test('the command line knows it', async () => {
  expect((await looptrace('explain', 'ualert.spec.condition')).stdout).toContain('windowMinutes')
  await writeFile(join(copy, 'alert.yaml'), `${yaml}  severe: true\n`)
  expect((await looptrace('lint', '-f', 'alert.yaml')).stdout).toContain(
    'alert.yaml:12:3: error: UsageAlert too-many-loops: spec.severe: unknown field',
  )
})

test('the operator reconciles it, from its creation to its deletion', async () => {
  operator = startScript(['src/main.ts', 'operator'], {
    cwd: copy,
    env: {
      KUBECONFIG: await server.kubeconfig(),
      LOOPTRACE_SERVICE_URL: service.url,
      LOOPTRACE_OPERATOR_KEY: `lt_op_abcdefgh_${'0'.repeat(32)}`,
      LOOPTRACE_OPERATOR_LEADER_ELECTION: 'false',
      LOOPTRACE_OPERATOR_NAMESPACE: namespace,
      LOOPTRACE_MANAGEMENT_PORT: '0',
    },
  })
  parts.defer(() => operator.stop())
  await grantProject(server, namespace, '0199aaaa-0000-7000-8000-000000000000', {
    kinds: ['UsageAlert'],
  })
  const apply = (text: string) =>
    server.kubectl(['apply', '-n', namespace, '-f', '-'], { input: text })
  expect(await apply(yaml)).toMatchObject({ status: 0, stderr: '' })
  await isReady()
  const alert = () => service.alerts.get(`${namespace}.too-many-loops`)
  expect(alert()).toMatchObject({
    severity: 'high',
    condition: { signal: 'loop_count', above: 10, window_m: 5 },
    managed_by: { kind: 'UsageAlert', namespace, name: 'too-many-loops' },
  })

  expect(await apply(yaml.replace('above: 10', 'above: 20'))).toMatchObject({ status: 0 })
  await eventually('the alert is changed', () => above(alert()) === 20)
  await isReady()
  const { stdout } = await looptrace('get', 'ualert', '-n', namespace)
  expect(stdout).toMatch(/usagealert\/too-many-loops +True +Synced +high +inactive/)

  const deleted = await server.kubectl(['delete', 'ualert', 'too-many-loops', '-n', namespace])
  expect(deleted).toMatchObject({ status: 0 })
  expect(service.alerts.size).toBe(0)
})

async function isReady(): Promise<void> {
  await eventually(
    'the alert is Ready',
    async () => {
      const asked = await looptrace('get', 'ualert', '-n', namespace, '--ready')
      return !('code' in asked)
    },
    { interval_ms: 200 },
  ).catch((cause: unknown) => {
    throw new Error(operator.output(), { cause })
  })
}

function above(alert: Readonly<Record<string, unknown>> | undefined): unknown {
  return (alert?.['condition'] as { above?: number } | undefined)?.above
}
