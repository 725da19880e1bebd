import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { goProgram } from '../go-tool.ts'
import type { KubeObject } from './kube-request.ts'

const repository = join(import.meta.dirname, '../../..')

/** How GitOps tools read the state of one object. */
export type GitopsHealth = {
  /** Status of kstatus, which Flux uses. */
  kstatus: 'Current' | 'InProgress' | 'Failed' | 'Terminating'
  message: string
  /** Result of the health check of `examples/argocd`. */
  argocd: { status: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended'; message: string }
}

/** Computes the state of objects with kstatus and with the health check, run by gopher-lua. */
export async function gitopsHealthOf(objects: readonly KubeObject[]): Promise<GitopsHealth[]> {
  const program = await gitopsHealthPath()
  const folder = await mkdtemp(join(tmpdir(), 'health-'))
  try {
    const script = join(folder, 'health.lua')
    await writeFile(script, await healthScript())
    return await new Promise((resolve, reject) => {
      const child = execFile(program, [script], (error, stdout, stderr) => {
        if (error === null) resolve(JSON.parse(stdout))
        else reject(new Error(stderr || error.message, { cause: error }))
      })
      child.stdin?.end(JSON.stringify(objects))
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Returns the path of the program, built once for each state of its sources. */
export async function gitopsHealthPath(): Promise<string> {
  const module = join(repository, 'test/tools/gitops-health')
  const keyed_on = (await readdir(module)).sort()
  return goProgram({ name: 'gitops-health', module, package_path: '.', keyed_on })
}

/** The script is a text in the YAML of a text in the ConfigMap. */
async function healthScript(): Promise<string> {
  const path = join(repository, 'examples/argocd/argocd-cm.yaml')
  const { data } = parse(await readFile(path, 'utf8'))
  return parse(data['resource.customizations'])['looptrace.dev/*']['health.lua']
}
