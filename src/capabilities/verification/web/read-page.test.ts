import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, describe, expect, test } from 'vitest'
import { createPageReader, PageRefused } from './read-page.ts'

const reader = createPageReader()
afterAll(() => reader.close())

const read = (body: string | Uint8Array, type: string) =>
  reader.read(typeof body === 'string' ? Buffer.from(body) : body, type)

const story =
  'The ferry to Miren leaves at 7:40 from gate 12. A ticket costs 31 euros for adults. Children travel free.'
const article = `<!doctype html><html><head><title>Ferry &amp; port</title><script>steal()</script></head>
<body><nav><a href="/">Home</a><a href="/x">Shop</a></nav><main><article><h1>Ferry</h1>
${`<p>${story}</p>`.repeat(6)}</article></main><footer>Cookies, imprint</footer></body></html>`

describe('a page', () => {
  test('is read as its article and as all of its text, without scripts', async () => {
    const page = await read(article, 'text/html; charset=utf-8')
    expect(page.title).toBe('Ferry & port')
    expect(page.article).toContain('The ferry to Miren leaves at 7:40 from gate 12.')
    expect(page.article).not.toContain('Cookies')
    expect(page.text).toContain('Cookies, imprint')
    expect(`${page.text}${page.article}`).not.toContain('steal')
  })

  test('keeps the blocks of its article apart', async () => {
    const { article: text } = await read(
      `<article>${'<p>The fee is 20 euros.</p><p>30 guests came to the opening night.</p>'.repeat(9)}</article>`,
      'text/html',
    )
    expect(text).toContain('The fee is 20 euros.\n30 guests')
  })

  test.each([
    ['text', 'plain text of a page', 'text/plain', 'plain text of a page'],
    ['JSON', '{"area_km2": 412}', 'application/ld+json', 'area km2 412'],
    ['a page without a type', '<p>hello</p>', '', 'hello'],
  ])('of %s is read', async (_, body, type, text) => {
    expect((await read(body, type)).text.trim()).toBe(text)
  })

  test.each([
    ['PDF', '%PDF-1.7', 'application/pdf', 'has the type application/pdf, expected text.'],
    ['an image', 'GIF89a', 'image/gif', 'has the type image/gif, expected text.'],
    [
      'binary data as HTML',
      Buffer.from(article).map((byte, at) => (at % 40 === 0 ? 0 : byte)),
      'text/html',
      'is binary data.',
    ],
  ])('of %s is refused', async (_, body, type, message) => {
    await expect(read(body, type)).rejects.toThrow(message)
  })
})

describe('the charset', () => {
  const latin = Buffer.from('<p>Die Fähre kostet 31 £ für Gäste.</p>', 'latin1')
  const utf8 = Buffer.from('<p>Die Fähre kostet 31 £ für Gäste.</p>')
  const declared = Buffer.concat([Buffer.from('<meta charset="iso-8859-2">'), latin])
  const utf16 = Buffer.concat([
    Buffer.from([0xff, 0xfe]),
    Buffer.from('Die Fähre kostet 31 £ für Gäste.', 'utf16le'),
  ])
  test.each([
    ['of the header', latin, 'text/html; charset=ISO-8859-1'],
    ['that the header names wrongly as UTF-8', latin, 'text/html; charset=utf-8'],
    ['that the header names wrongly as Latin 1', utf8, 'text/html; charset=iso-8859-1'],
    ['without a name', latin, 'text/html'],
    ['that does not exist', latin, 'text/html; charset=klingon'],
    ['of a byte order mark, against the header', utf16, 'text/plain; charset=utf-8'],
  ])('%s is found', async (_, body, type) => {
    expect((await read(body, type)).text.trim()).toBe('Die Fähre kostet 31 £ für Gäste.')
  })

  test('of a meta element is used', async () => {
    expect((await read(declared, 'text/html')).text).toContain('31 Ł')
  })
})

describe('a hostile page', () => {
  const size = 8 * 2 ** 20
  const deep = (tag: string) => tag.repeat(size / tag.length)
  const hasty = createPageReader({ answer_ms_max: 1_000 })
  afterAll(() => hasty.close())

  test.each([
    ['8 MB of nested tags', deep('<b>')],
    ['50,000 nested blocks', `${'<div>'.repeat(50_000)}The fee is 31 euros.`],
    ['8 MB of quotes that never close', deep('<a href="')],
    ['8 MB of entities', deep('&amp;&#x41;')],
    ['8 MB of angle brackets', deep('<')],
    ['8 MB of nested lists in JSON', deep('[')],
  ])('of %s is read or refused in bounded time, while the process goes on', async (_, source) => {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    delay.enable()
    const type = source.startsWith('[') ? 'application/json' : 'text/html'
    const started = performance.now()
    const page = await hasty.read(Buffer.from(source), type).catch((error: unknown) => error)
    delay.disable()
    if (!(page instanceof PageRefused)) expect(page).toMatchObject({ title: '' })
    expect(performance.now() - started).toBeLessThan(8_000)
    expect(delay.max / 1e6).toBeLessThan(1_000)
  })

  test('that takes too long is refused, and the next one is read', async () => {
    const strict = createPageReader({ answer_ms_max: 1 })
    await expect(strict.read(Buffer.from(article), 'text/html')).rejects.toThrow('too much time')
    await strict.close()
    expect((await read('<p>next page</p>', 'text/html')).text.trim()).toBe('next page')
  })
})
