import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { builtOnce } from '../test/support/build-once.ts'
import { rendered } from '../test/support/chart/render.ts'
import { goTool } from '../test/support/go-tool.ts'

/**
 * Looks for secrets in the history of the branch with gitleaks, and for weaknesses of the rendered
 * chart and of the Dockerfile with checkov. Both tools are built or installed once. Images are not
 * scanned: that needs their layers, and so a registry or a container engine.
 */
const repository = resolve(import.meta.dirname, '..')
const run = promisify(execFile)
const requirements = join(repository, 'test/tools/checkov/requirements.txt')

const scans: [name: string, scan: () => Promise<unknown>][] = [
  ['secrets in the history', scanHistory],
  ['chart, embedded', () => scanChart({})],
  ['chart, cluster', async () => scanChart(await exampleValues())],
  ['Dockerfile', () => checkov(['--framework=dockerfile', '--file', 'Dockerfile'])],
]
for (const [name, scan] of scans) {
  try {
    await scan()
    console.log(`${name}: nothing found`)
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    console.error(`${name}:\n${stdout || stderr || String(error)}`)
    process.exitCode = 1
  }
}

async function scanHistory(): Promise<void> {
  const gitleaks = await goTool('gitleaks', 'github.com/zricethezav/gitleaks/v8')
  await run(gitleaks, ['git', '.', '--no-banner', '--redact', '--verbose'], { cwd: repository })
}

async function exampleValues(): Promise<object> {
  return parse(await readFile(join(repository, 'examples/helm/values-cluster.yaml'), 'utf8'))
}

async function scanChart(values: object): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'looptrace-scan-'))
  try {
    await writeFile(join(folder, 'chart.yaml'), await rendered(values))
    await checkov(['--framework=kubernetes', '--directory', folder])
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function checkov(words: readonly string[]): Promise<void> {
  const hash = createHash('sha256').update(await readFile(requirements))
  const name = `checkov-${hash.digest('hex').slice(0, 16)}`
  const environment = await builtOnce(name, async (folder) => {
    await run('python3', ['-m', 'venv', folder])
    await run(join(folder, 'bin/pip'), ['install', '--quiet', '-r', requirements])
  })
  const config = ['--config-file', join(repository, '.checkov.yml')]
  await run(join(environment, 'bin/python'), ['-m', 'checkov.main', ...config, ...words], {
    cwd: repository,
    maxBuffer: 2 ** 26,
  })
}
