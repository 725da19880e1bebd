import { execFileSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

/**
 * Releases the chart: `make release-chart` with the variables of `releaseFrom`. Adds the annotations of
 * Artifact Hub, packages the chart with its provenance file, verifies the package with the same
 * keyring, pushes both, and signs the pushed artifact by its digest if there is a key for cosign.
 */
const root = new URL('../', import.meta.url)

/** What a release needs. */
type Release = {
  /** Folder of the package. */
  folder: string
  /** Where it is pushed, such as `oci://registry.example.com/charts`. */
  registry: string
  /** Name of the PGP key, and the file with the secret keyring (`gpg --export-secret-keys`). */
  key: string
  keyring: string
  /** File with the passphrase of the key; absent for a key without one. */
  passphrase_file: string | undefined
  /** Address of the public key for people who verify. */
  key_url: string | undefined
  /** Key of cosign: a file or the address of a KMS. Without one, only the provenance is signed. */
  cosign_key: string | undefined
  /** Flags of `helm push`, such as `--ca-file`. */
  push_flags: readonly string[]
}

const release = releaseFrom(process.env)
const staging = mkdtempSync(join(tmpdir(), 'looptrace-chart-'))
try {
  const chart = stage(staging, release)
  const archive = packageSigned(chart, release)
  const reference = push(archive, release)
  sign(reference, release)
} finally {
  rmSync(staging, { recursive: true, force: true })
}

function releaseFrom(env: NodeJS.ProcessEnv): Release {
  const required = (name: string) => {
    const value = env[name]
    if (!value) throw new Error(`${name} is missing: make release-chart ${name}=…`)
    return value
  }
  const optional = (name: string) => env[name] || undefined
  return {
    folder: env['CHART_FOLDER'] || 'dist',
    registry: required('CHART_REGISTRY'),
    key: required('CHART_KEY'),
    keyring: required('CHART_KEYRING'),
    passphrase_file: optional('CHART_PASSPHRASE_FILE'),
    key_url: optional('CHART_KEY_URL'),
    cosign_key: optional('COSIGN_KEY'),
    push_flags: (env['CHART_PUSH_FLAGS'] ?? '').split(/\s+/).filter((flag) => flag !== ''),
  }
}

type ChartFile = { version: string; appVersion: string; annotations?: Record<string, string> }

/** Copies the chart, and adds the annotations that follow from other files. Returns its folder. */
function stage(folder: string, { keyring, key, key_url }: Release): string {
  const chart = join(folder, 'looptrace')
  cpSync(new URL('charts/looptrace', root), chart, { recursive: true })
  const file = join(chart, 'Chart.yaml')
  const about = parse(readFileSync(file, 'utf8')) as ChartFile
  const image = `ghcr.io/looptrace/looptrace:${about.appVersion}`
  const annotations = {
    ...about.annotations,
    'artifacthub.io/crds': stringify(describeKinds()),
    'artifacthub.io/images': stringify([{ name: 'looptrace', image }]),
    'artifacthub.io/prerelease': String(about.version.includes('-')),
    ...(key_url !== undefined && {
      'artifacthub.io/signKey': stringify({
        fingerprint: fingerprintOf(keyring, key),
        url: key_url,
      }),
    }),
  }
  writeFileSync(file, stringify({ ...about, annotations }))
  return chart
}

/** Describes the custom resources as Artifact Hub lists them. */
function describeKinds(): object[] {
  return globSync('crds/*.yaml', { cwd: root })
    .toSorted()
    .map((path) => {
      const { metadata, spec } = parse(readFileSync(new URL(path, root), 'utf8'))
      const [version] = spec.versions
      return {
        kind: spec.names.kind,
        version: version.name,
        name: metadata.name,
        displayName: spec.names.kind,
        description: version.schema.openAPIV3Schema.description,
      }
    })
}

function fingerprintOf(keyring: string, key: string): string {
  const options = ['--no-default-keyring', '--with-colons', '--show-keys', '--fingerprint']
  const listed = execFileSync('gpg', [...options, keyring], { encoding: 'utf8' })
  const found = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1]
  if (found === undefined) throw new Error(`${keyring} holds no key, expected ${key}`)
  return found
}

/** Packages the chart with a provenance file, and verifies it. Returns the path of the package. */
function packageSigned(chart: string, about: Release): string {
  const { folder, key, keyring, passphrase_file } = about
  mkdirSync(folder, { recursive: true })
  const passphrase = passphrase_file === undefined ? [] : ['--passphrase-file', passphrase_file]
  const signing = ['--sign', '--key', key, '--keyring', keyring, ...passphrase]
  const said = helm('package', chart, '--destination', folder, ...signing)
  const archive = /saved it to: (\S+\.tgz)/.exec(said)?.[1]
  if (archive === undefined) throw new Error(`helm package named no file: ${said}`)
  helm('verify', archive, '--keyring', keyring)
  console.log(`${archive}: signed by ${key}`)
  return archive
}

/** Pushes the package; helm pushes the provenance file beside it. Returns the reference by digest. */
function push(archive: string, { registry, push_flags }: Release): string {
  const said = helm('push', archive, registry, ...push_flags)
  const digest = /Digest: (sha256:[0-9a-f]{64})/.exec(said)?.[1]
  if (digest === undefined) throw new Error(`helm push named no digest: ${said}`)
  const reference = `${registry.replace('oci://', '')}/looptrace@${digest}`
  console.log(reference)
  return reference
}

function sign(reference: string, { cosign_key, push_flags }: Release): void {
  if (cosign_key === undefined) {
    console.log(
      'COSIGN_KEY is not set: the artifact has its provenance, and no signature of cosign',
    )
    return
  }
  const plain = push_flags.includes('--plain-http') ? ['--allow-http-registry'] : []
  const flags = ['--yes', '--tlog-upload=false', ...plain]
  execFileSync('cosign', ['sign', '--key', cosign_key, ...flags, reference], { stdio: 'inherit' })
}

/** Runs helm, and returns what it wrote: the result of some commands is on standard error. */
function helm(...args: string[]): string {
  return execFileSync('sh', ['-c', 'exec helm "$@" 2>&1', 'sh', ...args], { encoding: 'utf8' })
}
