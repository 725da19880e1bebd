import { mkdtempSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { KubeEnvironment } from '../config/index.ts'
import { findKubeTarget, KubeConfigError } from './kubeconfig.ts'

const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
afterAll(() => rm(folder, { recursive: true }))

const nothing: KubeEnvironment = {
  ...{ kubeconfig: undefined, home: join(folder, 'nobody'), variables: {} },
  service_account: join(folder, 'no-pod'),
  ...{ service_host: undefined, service_port: undefined },
}

let files = 0
/** Writes a kubeconfig, and returns its path. */
function written(text: string): string {
  files += 1
  const path = join(folder, `config-${files}`)
  writeFileSync(path, text)
  return path
}

const targetOf = (...texts: string[]) =>
  findKubeTarget({ ...nothing, kubeconfig: texts.map(written).join(delimiter) })

const one = `
apiVersion: v1
kind: Config
preferences: {}
current-context: c
clusters:
- {name: k, cluster: {server: "https://one:6443/base", certificate-authority: ca.pem}}
users:
- {name: u, user: {client-certificate: sub/u.crt, client-key: /keys/u.key}}
contexts:
- {name: c, context: {cluster: k, user: u, namespace: team-a}}
`

describe('a kubeconfig', () => {
  test('gives the current context, with paths relative to the file', () => {
    const target = targetOf(one)
    expect(target).toMatchObject({
      cluster: { server: 'https://one:6443/base', 'certificate-authority': join(folder, 'ca.pem') },
      user: { 'client-certificate': join(folder, 'sub/u.crt'), 'client-key': '/keys/u.key' },
      namespace: 'team-a',
    })
  })

  test('of several files, the first with a value or a name wins', () => {
    const empty = 'clusters: null\nusers: null\ncontexts: null\ncurrent-context: ""\n'
    const two = one.replaceAll('one', 'two').replace('current-context: c', 'current-context: z')
    const target = targetOf(empty, one, two)
    expect(target.cluster.server).toBe('https://one:6443/base')
    expect(targetOf(two.replace('current-context: z', ''), one).cluster.server).toBe(
      'https://two:6443/base',
    )
  })

  test('needs no user', () => {
    expect(targetOf(one.replace(', user: u', '')).user).toEqual({})
  })

  test.each([
    ['', 'expected a current-context'],
    [one.replace('current-context: c', 'current-context: d'), 'expected a context named d'],
    [one.replace('cluster: k', 'cluster: j'), 'expected a cluster named j'],
    [one.replace('user: u,', 'user: v,'), 'expected a user named v'],
    [one.replace('server', 'servers'), 'server: '],
    [one.replace('client-key: /keys/u.key', 'auth-provider: {name: gcp}'), 'use exec'],
    [
      one.replace('client-key: /keys/u.key', 'as: a, as-groups: [b]'),
      'as-groups: is not supported',
    ],
    ['users: [{token: hush-hush', 'cannot be read'],
    [one.replace('client-key: /keys/u.key', 'token: [hush-hush]'), 'token: '],
  ])('that cannot be used is refused, without its values: %#', (text, reason) => {
    const read = () => targetOf(text)
    expect(read).toThrow(KubeConfigError)
    expect(read).toThrow(reason)
    expect(read).not.toThrow('hush')
  })

  test('that is missing is named', () => {
    const kubeconfig = join(folder, 'absent')
    expect(() => findKubeTarget({ ...nothing, kubeconfig })).toThrow(`${kubeconfig} cannot be read`)
  })
})

describe('without KUBECONFIG', () => {
  test('the file in the home folder comes before the service account of the pod', async () => {
    const home = await mkdtemp(join(folder, 'home-'))
    const service_account = await mkdtemp(join(folder, 'pod-'))
    await writeFile(join(service_account, 'token'), 'secret')
    await writeFile(join(service_account, 'namespace'), 'team-b\n')
    const address = { service_host: 'fd00::1', service_port: '443' }
    const env = { ...nothing, ...address, home, service_account }
    expect(findKubeTarget(env)).toEqual({
      cluster: {
        server: 'https://[fd00::1]:443',
        'certificate-authority': join(service_account, 'ca.crt'),
      },
      user: { tokenFile: join(service_account, 'token') },
      namespace: 'team-b',
    })
    await mkdir(join(home, '.kube'))
    await writeFile(join(home, '.kube', 'config'), one)
    expect(findKubeTarget(env).namespace).toBe('team-a')
  })

  test('nothing is configured', () => {
    expect(() => findKubeTarget(nothing)).toThrow('no API server is configured')
  })
})
