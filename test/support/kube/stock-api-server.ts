import { generateKeyPairSync } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { freePort } from '../free-port.ts'
import type { ApiServerFiles, ApiServerProcess } from './api-server-run.ts'
import { type ChildServer, endChildServer, startChildServer } from './child-server.ts'
import { ask } from './kube-request.ts'

const start_timeout_ms = 60_000

/** Starts the etcd and kube-apiserver of the Kubernetes project (or of envtest). */
export async function launchStockServers(
  binaries: { api_server: string; etcd: string },
  files: ApiServerFiles,
): Promise<ApiServerProcess> {
  await mkdir(files.directory, { recursive: true })
  const etcd_url = `http://127.0.0.1:${await freePort()}`
  const etcd = startChildServer(binaries.etcd, etcdArgs(etcd_url, await freePort(), files))
  const port = files.port || (await freePort())
  const server = startChildServer(binaries.api_server, await serverArgs(etcd_url, port, files))
  const url = `https://127.0.0.1:${port}`
  const end = async (signal: NodeJS.Signals) => {
    await endChildServer(server, signal)
    await endChildServer(etcd, signal)
  }
  try {
    await eventually('the API server is ready', () => isReady(url, files, [etcd, server]), {
      ...{ timeout_ms: start_timeout_ms, interval_ms: 50 },
    })
  } catch (cause) {
    await end('SIGKILL')
    throw new Error(`kube-apiserver did not start:\n${etcd.log()}\n${server.log()}`, { cause })
  }
  return { url, pid: server.process.pid ?? 0, end, compact: () => compact(etcd_url) }
}

function etcdArgs(url: string, peer_port: number, { directory }: ApiServerFiles): string[] {
  const peer = `http://127.0.0.1:${peer_port}`
  return [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ]
}

async function serverArgs(etcd_url: string, port: number, files: ApiServerFiles) {
  const key = join(files.directory, 'service-accounts.pem')
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  await writeFile(key, privateKey, { mode: 0o600 })
  return [
    `--etcd-servers=${etcd_url}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--cert-dir=${join(files.directory, 'certificates')}`,
    `--token-auth-file=${files.token_file}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    // No controller creates the service account that pods get by default.
    '--disable-admission-plugins=ServiceAccount',
  ]
}

async function isReady(
  url: string,
  files: ApiServerFiles,
  children: ChildServer[],
): Promise<boolean> {
  const ended = children.find(({ process: child }) => child.exitCode !== null)
  if (ended !== undefined) throw new Error(`${ended.process.spawnfile} ended`)
  const caller = { url, token: files.admin_token }
  const reply = await ask(caller, 'GET', '/readyz').catch(() => undefined)
  return reply?.status === 200
}

/** Uses etcd's own JSON gateway. */
async function compact(etcd_url: string): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${etcd_url}/v3/kv/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`etcd: ${path}: ${await answer.text()}`)
    return (await answer.json()) as { header: { revision: string } }
  }
  const { header } = await post('range', { key: 'AA==' })
  await post('compaction', { revision: header.revision, physical: true })
}
