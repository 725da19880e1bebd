import { cp, glob, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { incidentRuleKind } from '../../src/operator/kinds/incident-rule/index.ts'
import { notificationChannelKind } from '../../src/operator/kinds/notification-channel/index.ts'
import { projectKind } from '../../src/operator/kinds/project/index.ts'
import { retentionPolicyKind } from '../../src/operator/kinds/retention-policy/index.ts'
import { serviceAccountKind } from '../../src/operator/kinds/service-account/index.ts'
import { apiServerStartTimeoutMs } from '../support/kube/api-server.ts'
import {
  type ProductCluster,
  productOperator,
  sharedProductCluster,
} from '../support/kube/product-cluster.ts'
import { resourcesOf } from '../support/kube/resources.ts'

/**
 * The folders of examples that hold no resources: values of Helm, providers, pipelines, tests of rules.
 */
const otherFolders = [
  ...['helm', 'providers', 'certification/pipelines', 'incident-rules/tests'],
  'stores/clickhouse-cluster',
]

let cluster: ProductCluster
let folder: string

beforeAll(async () => {
  cluster = await sharedProductCluster()
  folder = await mkdtemp(join(tmpdir(), 'looptrace-examples-'))
  await cp('examples', folder, { recursive: true })
}, apiServerStartTimeoutMs)
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await cluster?.[Symbol.asyncDispose]()
})

async function apply(path: string, namespace: string): Promise<string> {
  const asked = ['apply', '-n', namespace, '-f', path]
  const { stdout, stderr, status } = await cluster.server.kubectl(asked)
  if (status !== 0) throw new Error(stderr)
  return stdout
}

async function documentsIn(text: string) {
  return parseAllDocuments(text).map((document) => document.toJS())
}

type Grant = { kind?: string; metadata: { name: string }; spec: object }

describe('examples', () => {
  test('one grant of a team is the same in all guides and examples', async () => {
    const yaml = await Array.fromAsync(glob('examples/**/*.yaml'))
    const pages = await Array.fromAsync(glob('{docs,examples}/**/*.md'))
    const texts = await Promise.all(yaml.map((path) => readFile(path, 'utf8')))
    for (const page of pages) {
      const blocks = (await readFile(page, 'utf8')).matchAll(/```yaml\n([\s\S]*?)```/g)
      texts.push(...[...blocks].map(([, text = '']) => text))
    }
    const grants = new Map<string, Set<string>>()
    for (const text of texts.filter((one) => one.includes('kind: ProjectGrant'))) {
      for (const { kind, metadata, spec } of (await documentsIn(text)) as Grant[]) {
        if (kind !== 'ProjectGrant') continue
        const known = grants.get(metadata.name) ?? new Set()
        grants.set(metadata.name, known.add(JSON.stringify(spec)))
      }
    }
    expect(grants.get('team-a-checkout')?.size).toBe(1)
    expect([...grants].filter(([, specs]) => specs.size > 1)).toEqual([])
  })

  test('every file that kubectl applies with its folder is a resource', async () => {
    for (const path of await readdir('examples', { recursive: true })) {
      if (!path.endsWith('.yaml') || otherFolders.some((one) => path.startsWith(`${one}/`)))
        continue
      for (const one of await documentsIn(await readFile(join('examples', path), 'utf8'))) {
        expect([path, one]).toEqual([
          path,
          expect.objectContaining({ apiVersion: expect.any(String), kind: expect.any(String) }),
        ])
      }
    }
  })

  test.each(['.', 'incident-rules'])('kubectl apply -f examples/%s is accepted', async (path) => {
    const namespace = await cluster.server.namespace()
    expect(await apply(join(folder, path), namespace)).toMatch(/created/)
  })

  test('kubectl apply -f examples/team makes a team whose resources are Ready', async () => {
    const namespace = await cluster.server.namespace()
    const own = await mkdtemp(join(folder, 'team-'))
    for (const name of await readdir(join(folder, 'team'))) {
      const text = await readFile(join(folder, 'team', name), 'utf8')
      const named = text.replaceAll('team-a', namespace).replaceAll('checkout', `c-${namespace}`)
      await writeFile(join(own, name), named)
    }
    await using _ = await productOperator(cluster, [namespace])
    await apply(own, namespace)
    for (const [name, key] of [
      ['on-call', 'signing-secret=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      ['slack', ['bot-token=xoxb', '1234567890', 'abcdefghij'].join('-')],
      ['pagerduty', 'routing-key=0123456789abcdef0123456789abcdef'],
    ] as const) {
      const secret = ['secret', 'generic', name, '-n', namespace, `--from-literal=${key}`]
      await cluster.server.kubectl(['create', ...secret])
      const label = ['secret', name, '-n', namespace, 'looptrace.dev/channel=true']
      await cluster.server.kubectl(['label', ...label])
    }
    const of = (kind: Parameters<typeof resourcesOf>[1]) =>
      resourcesOf(cluster.server, kind, namespace)
    await of(projectKind).ready(`c-${namespace}`)
    await of(serviceAccountKind).ready('agent')
    await of(retentionPolicyKind).ready(`c-${namespace}`)
    for (const name of ['on-call', 'team-slack', 'pager'])
      await of(notificationChannelKind).ready(name)
    // The service of this test has no workers that evaluate a measured rule, and no mail server.
    await of(incidentRuleKind).ready('loop-opens-at-once')
    await of(notificationChannelKind).notReady('team-mail', 'MailNotConfigured')
  })
})
