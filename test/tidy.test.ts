import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { problemCatalogue } from '../src/kernel/problem.ts'
import { keyScopes } from '../src/kernel/scopes.ts'
import { errorsOf, keyScopesOf } from '../src/platform/http/index.ts'
import { metricCatalogue, routeCatalogue } from '../src/roles/catalogues.ts'

const routes = routeCatalogue()
const named = routes.map((route) => [`${route.method} ${route.url}`, route] as const)

/** Routes for people and tokens of service accounts. */
const tokensOnly = /^\/api\/(?:v1\/verification\/|v2\/observability\/dead-letters$)/

describe.each(named)('%s', (_name, route) => {
  test('declares auth and a scope that match', () => {
    expect(['public', 'key', 'jwt', 'jwt_or_key']).toContain(route.auth)
    expect(route.scope.level === 'public').toBe(route.auth === 'public')
    const takesKeys = route.auth === 'key' || route.auth === 'jwt_or_key'
    const keys = route.scope.level === 'project' ? keyScopesOf(route.scope.key) : []
    if (takesKeys) expect(keys).not.toHaveLength(0)
    // On other routes, no project key could use a scope: it is what the token of a service account
    // needs. The specification accepts only tokens for verification.
    else if (!tokensOnly.test(route.url)) expect(keys).toHaveLength(0)
    for (const key of keys) expect(keyScopes).toContain(key)
  })

  test('has a unique id, a summary, and errors from the catalogue', () => {
    expect(route.id).toMatch(/^[a-z][A-Za-z]+$/)
    expect(routes.filter(({ id }) => id === route.id)).toHaveLength(1)
    expect(route.summary.length).toBeGreaterThan(5)
    for (const code of errorsOf(route)) expect(problemCatalogue).toHaveProperty(code)
  })

  test('describes every parameter of its path', () => {
    const inUrl = [...route.url.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name)
    const shape = route.params === undefined ? {} : (route.params as { shape?: object }).shape
    expect(Object.keys(shape ?? {}).toSorted()).toEqual(inUrl.toSorted())
  })
})

test('every error of the catalogue has a code of lower-case letters', () => {
  for (const code of Object.keys(problemCatalogue)) expect(code).toMatch(/^[a-z_]+$/)
})

/** Sources of the product by their path below `src`, without tests. */
const sources = new Map(
  await Promise.all(
    (await readdir('src', { recursive: true }))
      .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.test.ts'))
      .map(async (name) => [name, await readFile(`src/${name}`, 'utf8')] as const),
  ),
)

/** Folders of nouns that share a room, or whose room has another name. */
const rooms: Record<string, string> = {
  'route-stats': 'store-routing',
  archive: 'lifecycle/archive',
  'capture-policy': 'records/capture',
  ingest: 'edge/batches',
  'incident-links': 'incidents/links',
  reliability: 'certification',
}

/** Files of routes that are not named by their URL. */
const files: Record<string, string> = {
  '/': 'platform/http/front-page.ts',
  '/.well-known/jwks.json': 'capabilities/access/auth/auth.ts',
  '/.well-known/looptrace-certification-keys.json': 'capabilities/certification/api/statement.ts',
  ...Object.fromEntries(
    [
      ...['/invitation', '/reset-password', '/incident'],
      ...['/link-pages/pages.css', '/link-pages/page.js', '/link-pages/replies.js'],
      ...['/link-pages/account-flows.js', '/link-pages/incident-flow.js'],
    ].map((url) => [url, 'capabilities/link-pages/index.ts']),
  ),
  ...Object.fromEntries(
    routes
      .filter(({ url }) => /^\/(?:sign-in$|set-password$|p\/|assets\/)/.test(url))
      .map(({ url }) => [url, 'capabilities/console/pages.ts']),
  ),
  '/openapi.json': 'platform/http/openapi.ts',
  ...Object.fromEntries(
    [
      '',
      '/docs.js',
      '/slice-document.js',
      '/swagger-ui-bundle.js',
      '/swagger-ui.css',
      '/docs.css',
    ].map((file) => [`/docs${file}`, 'capabilities/api-reference/index.ts']),
  ),
  ...Object.fromEntries(
    ['ack', 'resolve', 'reopen', 'assign', 'comment', 'snooze', 'unsnooze'].map((move) => [
      `/api/v2/observability/incidents/{id}/${move}`,
      'capabilities/incidents/api/incidents/moves.ts',
    ]),
  ),
  ...Object.fromEntries(
    routes
      .filter(({ scope }) => scope.level === 'project' && scope.key === 'proxy:write')
      .map(({ url, summary }) => [
        url,
        `capabilities/edge/proxy/${summary.startsWith('Pass a ') ? 'passed' : 'call'}-routes.ts`,
      ]),
  ),
  ...Object.fromEntries(
    routes
      .filter(({ url }) => /^\/(?:v1\/(?:litellm|logs|metrics|traces)$|api\/public\/)/.test(url))
      .map(({ url }) => [url, 'capabilities/edge/otlp/receiver/routes.ts']),
  ),
}

/**
 * The last word of a URL names the file, or the word before it, when short routes share a file:
 * `…/query/explain` is `query/explain.ts`, and `…/users/{user_id}/enable` is in `users/user.ts`.
 * The name may be in the singular. A word of the URL names the folder.
 */
test.each([...new Set(routes.map(({ url }) => url))])('%s is in the file that it names', (url) => {
  const known = files[url]
  if (known !== undefined) return expect(sources.get(known)).toContain(`'${url}'`)
  const steps = url.split('/').slice(1)
  const words = steps.filter((step) => !step.startsWith('{'))
  const names = words.slice(-2).flatMap((word) => [word, singularOf(word)])
  const folders = words.map((word) => rooms[word] ?? word)
  const holders = [...sources].filter(([, source]) => source.includes(`'${url}'`))
  const fitting = holders.filter(
    ([path]) =>
      names.some((name) => path.endsWith(`/${name}.ts`)) &&
      folders.some((folder) => path.includes(`/${folder}/`)),
  )
  expect(fitting, `found in ${holders.map(([path]) => path).join(', ')}`).toHaveLength(1)
})

function singularOf(word: string): string {
  return word.replace(/ies$/, 'y').replace(/s$/, '')
}

test('every metric in the code is in the catalogue, with a help text', async () => {
  const catalogue = await metricCatalogue()
  const inCode = [
    ...[...sources.values()].join('\n').matchAll(/name: ['`](looptrace_\w+)['`]/g),
  ].map(([, name]) => name)
  const names = catalogue.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
  expect(inCode.length).toBeGreaterThan(20)
  expect(names).toEqual(expect.arrayContaining(inCode))
  for (const { help } of catalogue) expect(help).toMatch(/^[A-Z].{9,}\.$/)
})

test('the measured figures of each detector are those in its documentation', async () => {
  const measured = rowsByType(await readFile('docs/reference/verdicts.md', 'utf8'))
  const said = rowsByType(await readFile('docs/internals/detection.md', 'utf8'))
  expect(measured.size).toBeGreaterThan(30)
  for (const [type, cells] of measured) {
    const [precision, recall] = cells.slice(-2).map((cell) => Number(cell).toFixed(2))
    expect(said.get(type)?.at(-1), type).toBe(`${precision} · ${recall}`)
  }
})

/** Cells of the rows whose first cell is a type, of tables with measurements. */
function rowsByType(page: string): Map<string, string[]> {
  const rows = page.split('\n').flatMap((line) => {
    const [, type, ...cells] = line.split('|').map((cell) => cell.trim())
    const name = /^`([a-z_]+)`$/.exec(type ?? '')?.[1]
    const isMeasured = /^[01]\.\d/.test(cells.at(-2) ?? '')
    return name === undefined || !isMeasured ? [] : [[name, cells.slice(0, -1)] as const]
  })
  return new Map(rows)
}

test('each attack in the page about tenancy has a test of the name that it gives', async () => {
  const page = await readFile('docs/internals/tenancy.md', 'utf8')
  const rows = [...page.matchAll(/^\| (?!attack|---)(.+) \| .+ \| (.+) \|$/gm)]
  expect(rows.length).toBeGreaterThan(30)
  let path = ''
  for (const [, attack = '', tests = ''] of rows) {
    for (const one of tests.split('; ')) {
      const [, file, same, name = ''] = /^(?:`(.+?)`)?:? ?(… )?(.*)$/.exec(one) ?? []
      if (file !== undefined) path = file.includes('/') ? file : `test/contract/${file}`
      else if (same === undefined) path = 'test/contract/project-grants.test.ts'
      expect(await readFile(path, 'utf8'), attack).toContain(name)
    }
  }
})

test.each(['docs/internals/threat-model.md', 'docs/internals/tenancy.md'])(
  'every test file that %s names exists',
  async (page) => {
    const text = await readFile(page, 'utf8')
    const files = [...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, name = '']) =>
      name.includes('/') ? name : `test/contract/${name}`,
    )
    expect(files.length).toBeGreaterThan(10)
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  },
)

test('statements across projects stand where this list says, each with its reason', () => {
  const uses = [...sources].flatMap(([name, source]) =>
    [...source.matchAll(/\.acrossProjects\((?:'([^']*)')?/g)].map(
      ([, reason]) => `${reason}: ${name}`,
    ),
  )
  expect([...new Set(uses)].toSorted()).toEqual(acrossProjects)
})

/** Reasons and files. A new line here needs a reason why `ofProject` does not do. */
const acrossProjects = [
  'catalogue: capabilities/incidents/signals/minutes.ts',
  'catalogue: capabilities/lifecycle/archive/archive-store.ts',
  'catalogue: capabilities/lifecycle/archive/restore/restored-store.ts',
  'catalogue: capabilities/query/run/column-sizes.ts',
  'catalogue: capabilities/storage/clickhouse/change-rows.ts',
  'catalogue: capabilities/storage/clickhouse/table-target.ts',
  'changes of rows: capabilities/storage/clickhouse/change-rows.ts',
  'ingest: capabilities/storage/clickhouse/ledger-hours.ts',
  'ingest: capabilities/storage/clickhouse/ledger-store.ts',
  'ingest: capabilities/storage/clickhouse/record-store.ts',
  'ingest: capabilities/storage/clickhouse/store.ts',
  'ledger hours: capabilities/storage/clickhouse/ledger-hours.ts',
  'move: capabilities/move/rows-store.ts',
  'whole parts: capabilities/lifecycle/archive/restore/restored-store.ts',
  'whole parts: capabilities/storage/clickhouse/change-rows.ts',
]

test('no capability opens the columnar store with all rights', () => {
  for (const [name, source] of sources) {
    if (!name.startsWith('capabilities/')) continue
    expect(source, name).not.toMatch(/\b(ColumnarServer|ColumnarStatements|openColumnar)\b/)
  }
})

test('no file of the product is longer than 300 lines, and none has a catch-all name', () => {
  for (const [name, source] of sources) {
    expect(name).toMatch(/^[a-z0-9-/.]+$/)
    expect(name).not.toMatch(/(^|\/)(utils?|helpers?|common|misc|base|types|manager)\.[jt]s$/)
    expect(source.split('\n').length, name).toBeLessThanOrEqual(301)
  }
})

test.each(['src/platform/relational/migrations', 'src/platform/columnar/migrations'])(
  '%s is numbered without gaps',
  async (folder) => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
    expect(names.length).toBeGreaterThan(0)
    names.forEach((name, i) => {
      expect(name).toMatch(new RegExp(`^${String(i + 1).padStart(4, '0')}_[a-z0-9_]+\\.sql$`))
    })
  },
)
