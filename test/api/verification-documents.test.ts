import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KnowledgeApi, openKnowledgeApi } from '../support/knowledge-api.ts'
import { budget } from '../support/suite/budget.ts'

let api: KnowledgeApi
let project: string

beforeAll(async () => {
  api = await openKnowledgeApi()
  project = await api.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

let names = 0
const policy = (change: object = {}) => ({
  name: `policy ${++names}`,
  format: 'text',
  content: 'Refunds take 14 days. Express parcels cannot be refunded.',
  ...change,
})
const search = async (query: string, project_id = project) =>
  (await api.call('POST', 'documents/search', project_id, { body: { query } })).body.results

describe('documents', () => {
  test('a document is stored, read, listed and found with its offsets', async () => {
    const body = policy({ url: 'https://example.com/refunds' })
    const added = await api.call('POST', 'documents', project, { body })
    expect([added.status, added.headers['etag']]).toEqual([201, '"1"'])
    expect(added.body).toMatchObject({ name: body.name, title: body.name, version: 1, chunks: 1 })
    const id = added.body.document_id
    const digest = createHash('sha256').update(body.content).digest('hex')
    expect(added.body).toMatchObject({ digest, bytes: body.content.length })
    const read = await api.call('GET', `documents/${id}`, project, { role: 'viewer' })
    expect([read.status, read.body]).toEqual([200, added.body])
    const version = await api.call('GET', `documents/${id}/versions/1`, project)
    expect(version.body).toMatchObject({ content: body.content, digest, version: 1 })
    const list = await api.call('GET', `documents?name=${body.name.toUpperCase()}`, project)
    expect(list.body).toEqual({ documents: [added.body], total: 1, next_cursor: null })
    const [found] = await search('express parcels refunded')
    expect(found).toMatchObject({ document_id: id, version: 1, url: added.body.url })
    expect(body.content.slice(...found.at)).toBe(found.quote)
  })

  test('a replacement is a new version; equal content is none', async () => {
    const { document_id, name } = await api.add(project, policy({ content: 'Gate zebra opens.' }))
    const path = `documents/${document_id}`
    const body = { name, format: 'text', content: 'Gate yacht opens.' }
    const stale = await api.call('PUT', path, project, { body, headers: { 'if-match': '"7"' } })
    expect([stale.status, stale.body.code]).toEqual([412, 'precondition_failed'])
    const put = await api.call('PUT', path, project, { body, headers: { 'if-match': '"1"' } })
    expect([put.status, put.headers['etag'], put.body.version]).toEqual([200, '"2"', 2])
    const again = await api.call('PUT', path, project, { body })
    expect(again.body).toEqual(put.body)
    expect(await search('zebra')).toEqual([])
    expect(await search('yacht')).toMatchObject([{ document_id, version: 2 }])
    const versions = await api.call('GET', `${path}/versions`, project)
    expect(versions.body.versions.map((each: { version: number }) => each.version)).toEqual([2, 1])
    const old = await api.call('GET', `${path}/versions/1`, project)
    expect(old.body.content).toBe('Gate zebra opens.')
    const gone = await api.call('DELETE', path, project, { headers: { 'if-match': '"1"' } })
    expect([gone.status, gone.body.code]).toEqual([412, 'precondition_failed'])
    expect((await api.call('DELETE', path, project)).status).toBe(204)
    expect(await search('yacht')).toEqual([])
    for (const tail of ['', '/versions', '/versions/1']) {
      const { status, body: fault } = await api.call('GET', `${path}${tail}`, project)
      expect([status, fault.code]).toEqual([404, 'document_not_found'])
    }
  })

  test('the newest 10 versions are kept', async () => {
    const { document_id, name } = await api.add(project, policy({ content: 'Edition 0.' }))
    for (let edition = 1; edition <= 11; edition += 1) {
      const body = { name, format: 'text', content: `Edition ${edition}.` }
      await api.call('PUT', `documents/${document_id}`, project, { body })
    }
    const { body } = await api.call('GET', `documents/${document_id}/versions`, project)
    const kept = body.versions.map(({ version }: { version: number }) => version)
    expect(kept).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
    const old = await api.call('GET', `documents/${document_id}/versions/2`, project)
    expect([old.status, old.body.code]).toEqual([404, 'document_not_found'])
  })

  test('a list has pages', async () => {
    const own = await api.newProject()
    for (const name of ['a', 'b', 'c']) await api.add(own, policy({ name }))
    const first = await api.call('GET', 'documents?limit=2', own)
    expect(first.body.documents.map((each: { name: string }) => each.name)).toEqual(['c', 'b'])
    const cursor = first.body.next_cursor
    const second = await api.call('GET', `documents?limit=2&cursor=${cursor}`, own)
    expect(second.body).toMatchObject({ documents: [{ name: 'a' }], total: 3, next_cursor: null })
    const other = await api.call('GET', `documents?name=a&cursor=${cursor}`, own)
    expect([other.status, other.body.code]).toEqual([400, 'invalid_cursor'])
  })

  test('a name is used once, also by renaming', async () => {
    const one = await api.add(project, policy())
    const other = await api.add(project, policy({ content: 'Other.' }))
    const added = await api.call('POST', 'documents', project, { body: policy({ name: one.name }) })
    expect([added.status, added.body.code]).toEqual([409, 'document_exists'])
    const body = policy({ name: one.name, content: 'Other.' })
    const put = await api.call('PUT', `documents/${other.document_id}`, project, { body })
    expect([put.status, put.body.code]).toEqual([409, 'document_exists'])
  })

  test('a repeated call with a key adds one document', async () => {
    const [body, headers] = [policy(), { 'idempotency-key': 'documents-1' }]
    const first = await api.call('POST', 'documents', project, { body, headers })
    const again = await api.call('POST', 'documents', project, { body, headers })
    expect([again.status, again.body]).toEqual([201, first.body])
  })

  test.each([
    ['markdown', '# Fees\n\n**Late** fee: `12` euros.\n', 'Late fee: 12 euros.'],
    [
      'html',
      '<script>Late fee 99</script><p>Late&nbsp;fee: <b>12</b> euros.</p><style>x{}</style>',
      'Late fee: 12 euros.',
    ],
    ['json', '{"late_fee": {"amount": 12, "note": "per \\u0000 day"}}', 'amount 12'],
  ])('%s is read without its markup', async (format, content, quote) => {
    const own = await api.newProject()
    await api.add(own, { name: 'fees', format, content })
    const [found, ...others] = await search('late fee amount 12', own)
    expect(others).toEqual([])
    expect(found.quote).toContain(quote)
    expect(content.slice(...found.at)).toContain('12')
    expect(await search('99', own)).toEqual([])
  })
})

describe('refusals', () => {
  test.each([
    ['a PDF', { format: 'pdf' }, '/format', /PDF.*text/],
    ['no content', { content: '' }, '/content', /./],
    ['U+0000', { content: 'a\u0000b' }, '/content', /U\+0000/],
    ['half a surrogate pair', { content: 'a\ud800b' }, '/content', /surrogate/],
    ['control characters in the name', { name: 'a\u001b[2Jb' }, '/name', /invisible character/],
    ['a name that changes direction', { name: 'a\u202eb' }, '/name', /invisible character/],
    ['two lines in the title', { title: 'a\nb' }, '/title', /invisible character/],
    ['a script as URL', { url: 'javascript:alert(1)' }, '/url', /http/],
    ['an unknown field', { path: '/etc/passwd' }, '/path', /not a field/],
    ['9 MB', { content: 'x'.repeat(9_000_000) }, '/content', /8388608 bytes/],
  ])('%s → 400', async (_name, change, pointer, detail) => {
    const { status, body } = await api.call('POST', 'documents', project, { body: policy(change) })
    expect([status, body.errors[0].pointer]).toEqual([400, pointer])
    expect(body.errors[0].detail).toMatch(detail)
  })

  test('invalid UTF-8 → 400', async () => {
    const payload = Buffer.from(JSON.stringify(policy({ content: 'caf\u00e9' })), 'latin1')
    const { status, body } = await api.call('POST', 'documents', project, { payload })
    expect([status, body.code]).toEqual([400, 'invalid_json'])
    expect(body.detail).toMatch(/UTF-8/)
  })

  test('more than 12 MiB → 413', async () => {
    const body = policy({ content: '\n'.repeat(7_000_000) })
    const { status } = await api.call('POST', 'documents', project, { body })
    expect(status).toBe(413)
  })

  test('a viewer reads and searches, but does not write; keys are not accepted', async () => {
    const { document_id } = await api.add(project, policy())
    const asViewer = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
      api.call(method, path, project, { role: 'viewer', body })
    const refused = [
      await asViewer('POST', 'documents', policy()),
      await asViewer('PUT', `documents/${document_id}`, policy()),
      await asViewer('DELETE', `documents/${document_id}`),
      await asViewer('POST', 'facts', { subject: 'a', attribute: 'b', value: 1 }),
    ]
    for (const { status, body } of refused) {
      expect([status, body.code]).toEqual([403, 'permission_denied'])
    }
    expect((await asViewer('POST', 'documents/search', { query: 'refund' })).status).toBe(200)
    const headers = { authorization: '', 'x-api-key': `lt_${project} verification:run` }
    const byKey = await api.call('GET', 'documents', project, { headers })
    expect(byKey.status).toBe(401)
  })

  test("another project's documents and facts do not exist", async () => {
    const other = await api.newProject()
    const body = policy({ content: 'The walrus code is 4711.' })
    const { document_id } = await api.add(project, body)
    const path = `documents/${document_id}`
    const fact = { subject: 'walrus', attribute: 'code', value: 4711 }
    const stored = await api.call('POST', 'facts', project, { body: fact })
    const calls = [
      await api.call('GET', path, other),
      await api.call('PUT', path, other, { body }),
      await api.call('DELETE', path, other),
      await api.call('GET', `${path}/versions`, other),
      await api.call('GET', `${path}/versions/1`, other),
      await api.call('DELETE', `facts/${stored.body.facts[0].fact_id}`, other),
    ]
    for (const { status } of calls) expect(status).toBe(404)
    expect(await search('walrus code 4711', other)).toEqual([])
    expect((await api.call('GET', 'documents', other)).body.total).toBe(0)
    expect((await api.call('GET', 'facts', other)).body.total).toBe(0)
    expect(await search('walrus code 4711')).toHaveLength(1)
    expect((await api.call('GET', 'facts?subject=WALRUS', project)).body.total).toBe(1)
  })

  test.each([
    ['kb_document_chunks_max', /passages.*Split/],
    ['kb_project_chunks_max', /passages.*Delete/],
    ['kb_project_bytes_max', /bytes.*Delete/],
  ] as const)('%s: a larger document is refused whole', async (limit, detail) => {
    const own = await api.newProject()
    const before = { ...api.deps.limits }
    const { document_id, name } = await api.add(own, policy({ content: 'One.' }))
    api.deps.limits[limit] = 5
    try {
      const content = 'One sentence. Two sentences. Three.\n'.repeat(6)
      const added = await api.call('POST', 'documents', own, { body: policy({ content }) })
      expect([added.status, added.body.code]).toEqual([409, 'knowledge_base_full'])
      expect(added.body.detail).toMatch(detail)
      const body = { name, format: 'text', content }
      const put = await api.call('PUT', `documents/${document_id}`, own, { body })
      expect([put.status, put.body.code]).toEqual([409, 'knowledge_base_full'])
    } finally {
      Object.assign(api.deps.limits, before)
    }
    const { body } = await api.call('GET', 'documents', own)
    expect(body).toMatchObject({ total: 1, documents: [{ version: 1 }] })
    expect(await search('sentences', own)).toEqual([])
  })
})

describe('hostile documents', () => {
  test.each([
    ['digits without end', 'text', Array.from({ length: 9_999 }, (_, at) => at * 7_919).join('')],
    ['letters outside of the basic plane', 'text', '𝒳'.repeat(200_000)],
    ['spaces before a letter', 'markdown', `${' '.repeat(1_000_000)}x`],
    ['unclosed tags', 'html', '<a "'.repeat(200_000)],
    ['deep elements', 'html', `${'<div>'.repeat(200_000)}end`],
    ['deep lists', 'json', `${'['.repeat(500_000)}1`],
    ['escaped halves of surrogate pairs', 'json', `"${'\\ud800 '.repeat(100_000)}"`],
    ['open brackets', 'markdown', '[](a'.repeat(200_000)],
    ['terms with names of prototypes', 'text', '__proto__ constructor toString 7. '.repeat(99)],
  ])('%s are stored within seconds', async (_name, format, content) => {
    const own = await api.newProject()
    const started = performance.now()
    const { document_id } = await api.add(own, { name: 'hostile', format, content })
    expect(performance.now() - started).toBeLessThan(10_000)
    const version = await api.call('GET', `documents/${document_id}/versions/1`, own)
    expect(version.body.content).toBe(content)
    await search(content.slice(0, 5_000), own)
  })

  test('a project that sends many documents at once does not use all slots', async () => {
    const own = await api.newProject()
    const content = 'One sentence. Two sentences.\n'.repeat(5_000)
    const [many, other] = await Promise.all([
      Promise.all(
        [1, 2, 3, 4, 5, 6].map((at) =>
          api.call('POST', 'documents', own, { body: policy({ name: `many ${at}`, content }) }),
        ),
      ),
      api.call('POST', 'documents', project, { body: policy() }),
    ])
    expect(many.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 429, 429, 429])
    expect(other.status).toBe(201)
  })

  test('a document of a million words blocks no other request', async () => {
    const own = await api.newProject()
    const length = budget({ test: 400_000, soak: 1_000_000 })
    const words = Array.from({ length }, (_, at) => `w${(at * 7_919) % 50_000}`)
    const refused = { name: 'lines', format: 'text', content: 'a\n'.repeat(3_000_000) }
    const lines = await api.call('POST', 'documents', own, { body: refused })
    expect([lines.status, lines.body.code]).toEqual([409, 'knowledge_base_full'])
    let longest_ms = 0
    let last = performance.now()
    const pulse = setInterval(() => {
      longest_ms = Math.max(longest_ms, performance.now() - last)
      last = performance.now()
    }, 20)
    const body = { name: 'million', format: 'text', content: words.join(' ') }
    const added = await api.call('POST', 'documents', own, { body })
    clearInterval(pulse)
    expect([added.status, added.body.chunks]).toEqual([201, Math.ceil(length / 120)])
    expect(longest_ms).toBeLessThan(1_500)
    expect(await search('w7919 w15838', own)).not.toHaveLength(0)
  })
})
