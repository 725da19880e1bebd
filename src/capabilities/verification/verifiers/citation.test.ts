import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  answerContext,
  claimOf,
  html,
  seenSource,
  startWeb,
} from '../../../../test/support/web-pages.ts'
import type { AnswerContext, ClaimToCheck, SeenSource, StoredValue } from '../contract.ts'
import { createFetchPage } from '../web/fetch-page.ts'
import { createPageReader } from '../web/read-page.ts'
import { createCitationVerifier } from './citation.ts'

const web = await startWeb()
const reader = createPageReader()
afterAll(async () => {
  await web.close()
  await reader.close()
})
beforeEach(() => {
  web.pages.clear()
  web.received.length = 0
})

const fees =
  'Refunds are paid within 14 days to the card that was used for the purchase. Opened software cannot be returned.'
const opening =
  'The counter in Hamburg is open from 9 to 17 on working days. On public holidays it stays closed all day.'
const sources = [
  { title: 'Refund policy', url: 'https://shop.example.com/refunds', content: fees },
  { title: 'Opening hours', url: 'https://shop.example.com/hours', content: opening },
]
const results = JSON.stringify({ results: sources }, null, 1)

type Case = {
  seen?: SeenSource[]
  answer?: string
  values?: StoredValue[]
  context?: Partial<AnswerContext>
  options?: { fetch?: boolean; pages_max?: number }
}

async function check(text: string, given: Case = {}) {
  const { seen = [seenSource(results)], answer = text, values = [], context, options = {} } = given
  const { outbound } = web
  const verifier = createCitationVerifier(createFetchPage({ outbound, reader, timeout_ms: 1_000 }))
  const { signal } = new AbortController()
  const opened = await verifier.open(
    {
      run_id: 'r1',
      answer: answerContext(answer, { seen, ...context }),
      paid: () => Promise.reject(new Error('not called')),
      judge: undefined,
    },
    verifier.options.parse(options),
    signal,
  )
  const claim: ClaimToCheck = { ...claimOf(text, Math.max(0, answer.indexOf(text))), values }
  const result = await opened(claim, signal)
  for (const { kind, quote, at, source } of result.evidence) {
    const origin = seen.find((one) => one.source === source)
    if (kind === 'trace') expect(origin?.text.slice(...(at ?? [0, 0]))).toBe(quote)
  }
  return result
}

const verdictOf = async (text: string, given?: Case) => (await check(text, given)).verdict

describe('a claim without references', () => {
  test.each([
    'Refunds are paid within 14 days.',
    'According to experts, refunds are paid within 14 days.',
    'The values [1, 2, 3] are sorted.',
    'In [2024] the shop opened.',
    'Set the third item with `a[3]` to zero.',
  ])('is skipped: %s', async (text) => {
    const seen = text.startsWith('The values') ? [seenSource('no sources here')] : undefined
    expect(await verdictOf(text, seen ? { seen } : {})).toBe('skipped')
  })

  test('is skipped in the list of sources of the answer', async () => {
    const line = '[1] Refund policy: https://shop.example.com/refunds'
    expect(
      await verdictOf(line, { answer: `Refunds take 14 days [1].\n\nSources:\n${line}` }),
    ).toBe('skipped')
  })
})

describe('a quote', () => {
  test('is found in the cited source, with its offsets', async () => {
    const result = await check('The policy says “refunds are paid within 14 days to the card” [1].')
    expect(result).toMatchObject({ verdict: 'supported', method: 'quote' })
    expect(result.evidence).toMatchObject([
      {
        kind: 'trace',
        source: 'tool search',
        quote: 'Refunds are paid within 14 days to the card',
      },
    ])
  })

  test.each([
    ['by number', 'It says "stays closed all day" on public holidays [2].'],
    ['by document', 'It says "stays closed all day" on public holidays [doc2].'],
    ['by file', 'It says "stays closed all day" on public holidays【4:0†Opening hours】.'],
    ['by footnote', 'It says "stays closed all day" on public holidays [^2].'],
    [
      'by URL',
      'It says "stays closed all day" on public holidays (https://shop.example.com/hours).',
    ],
    [
      'by link',
      'It says "stays closed all day" on [public holidays](https://shop.example.com/hours#x).',
    ],
    ['by title', 'It says "stays closed all day" on public holidays (Source: Opening hours).'],
    ['by tool', 'According to `search`, it "stays closed all day" on public holidays.'],
    ['by nothing: it was seen', 'It says it "stays closed all day" on public holidays.'],
    ['with words left out', 'It says "public holidays … closed all day" [2].'],
  ])('is found %s', async (_, text) => {
    const result = await check(text)
    expect(result).toMatchObject({ verdict: 'supported', method: 'quote' })
  })

  test.each([
    ['text', `[1] Refund policy\n${fees}\n\n[2] Opening hours\n${opening}`],
    [
      'a text in JSON',
      JSON.stringify({ output: `[1] Refund policy\n${fees}\n\n[2] Hours\n${opening}` }),
    ],
    [
      'documents',
      `<document index="1">\n${fees}\n</document>\n<document index="2">\n${opening}\n</document>`,
    ],
    ['headings', `Source 1: Refunds\n${fees}\nSource 2: Hours\n${opening}`],
    ['an array of results', JSON.stringify(sources)],
  ])('is looked up in lists of %s', async (_, text) => {
    const seen = [seenSource(text)]
    const invented = 'It promises "refunds are paid within 3 days to any account" [1].'
    expect(await verdictOf('It "stays closed all day" on public holidays [2].', { seen })).toBe(
      'supported',
    )
    expect(await check(invented, { seen })).toMatchObject({
      verdict: 'contradicted',
      method: 'quote',
    })
    expect(await check('The counter opens at 9 [7].', { seen })).toMatchObject({
      ...{ verdict: 'contradicted', method: 'citation' },
      note: '[7] does not exist among the sources: the agent saw 2',
    })
  })

  test('that is in another source is shown there', async () => {
    const result = await check('The policy says "stays closed all day" on public holidays [1].')
    expect(result).toMatchObject({ verdict: 'unverifiable' })
    expect(result.note).toContain('not in the cited source')
  })

  test('does not support what the claim says beside it', async () => {
    const other: [string, string][] = [
      [
        'another number',
        'The fee is 500 euros: "refunds are paid within 14 days to the card" [1].',
      ],
      ['a denial', 'It never says "refunds are paid within 14 days to the card" [1].'],
      [
        'more than the quote',
        'Since "opened software cannot" be sold, the shop gives each customer a voucher, a new licence, free shipping and lifelong support [1].',
      ],
    ]
    for (const [name, text] of other) {
      expect([name, await verdictOf(text)]).toEqual([name, 'unverifiable'])
    }
  })

  test('of a claim with a value that the agent did not see is not enough', async () => {
    const value = {
      value: '500',
      kind: 'number',
      at: [0, 3] as const,
      derivation: null,
      evidence: [],
    }
    const values = [{ ...value, verdict: 'unsupported' as const }]
    const text = 'For order 500 "refunds are paid within 14 days to the card" [1].'
    expect(await verdictOf(text, { values })).toBe('unverifiable')
  })

  const invented = 'It promises "refunds are paid within 3 days to any account" [1].'
  const excerpt = [{ url: 'https://a.example.com/', title: 'Refunds', snippet: fees }]
  test.each<[string, Case]>([
    ['a source that was cut', { seen: [seenSource(results, { is_complete: false })] }],
    ['an excerpt of a page', { seen: [seenSource(JSON.stringify(excerpt))] }],
    [
      'another language',
      {
        seen: [
          seenSource(
            JSON.stringify([
              {
                title: 'Erstattung',
                content: 'Geld wird binnen 14 Tagen auf die Karte gezahlt, mit der bezahlt wurde.',
              },
            ]),
          ),
        ],
      },
    ],
  ])('is not contradicted by %s', async (_, given) => {
    expect(await verdictOf(invented, given)).toBe('not_found')
  })

  test('of fewer than 12 characters, or of a name, decides nothing', async () => {
    expect(await verdictOf('The "best of all" shop opens at 9 [1].')).not.toBe('contradicted')
    expect(await verdictOf('The answer is "yes" [1].')).not.toBe('contradicted')
  })
})

describe('a reference', () => {
  test('supports a claim with the words of its source', async () => {
    const result = await check(
      'Refunds are paid within 14 days to the card that was used for the purchase [1].',
    )
    expect(result).toMatchObject({ verdict: 'supported' })
    expect(result.evidence[0]?.quote).toContain('14 days')
  })

  test('does not support a claim with the words of another source', async () => {
    const text = 'Refunds are paid within 14 days to the card that was used for the purchase [2].'
    expect(['not_found', 'unverifiable']).toContain(await verdictOf(text))
  })

  test.each([
    ['to a URL that was not seen', 'Refunds take 14 days (https://shop.example.com/secret).'],
    ['to a tool that was not called', 'According to `get_refund_rules`, refunds take 14 days.'],
    ['to a document that was not seen', 'According to refund_rules_2031.pdf refunds take 14 days.'],
    ['to a source that was not seen', 'Refunds take 14 days (Source: Consumer handbook).'],
  ])('%s is not found', async (_, text) => {
    const result = await check(text)
    expect(result).toMatchObject({ verdict: 'not_found', method: 'citation' })
    expect(result.note).toContain('is not in what the agent saw')
  })

  test('without any list of sources is not found', async () => {
    const result = await check('Refunds take 14 days [1].', { seen: [seenSource('hello')] })
    expect(result).toMatchObject({ verdict: 'not_found', method: 'citation' })
  })

  test.each<[string, Case]>([
    [
      'the context has gaps',
      { context: { gaps: ['The content of 1 observation is not stored.'] } },
    ],
    [
      'a source was cut',
      { seen: [seenSource(results), seenSource('more', { is_complete: false })] },
    ],
  ])('out of range is not contradicted when %s', async (_, given) => {
    expect(await verdictOf('The counter opens at 9 [7].', given)).toBe('not_found')
  })

  test('counts through the lists of several calls', async () => {
    const seen = [
      seenSource(JSON.stringify(sources.slice(0, 1)), { digest: 'a' }),
      seenSource(JSON.stringify(sources.slice(1)), { source: 'tool search (2)', digest: 'b' }),
    ]
    expect(await verdictOf('It "stays closed all day" on public holidays [2].', { seen })).toBe(
      'supported',
    )
    expect(await verdictOf('It opens at 9 [3].', { seen })).toBe('contradicted')
  })

  test('is not an id of a database', async () => {
    const rows = JSON.stringify(sources.map((source, at) => ({ id: 101 + at, ...source })))
    const seen = [seenSource(rows)]
    expect(await verdictOf('It "stays closed all day" on public holidays [2].', { seen })).toBe(
      'supported',
    )
  })

  test('leads through the list of sources of the answer', async () => {
    const claim = 'It "stays closed all day" on public holidays [1].'
    const list = '## Sources\n1. [Hours](https://shop.example.com/hours)\n2. Refund policy\n'
    expect(await verdictOf(claim, { answer: `${claim}\n\n${list}` })).toBe('supported')
    const missing = 'It opens at 9 [9].'
    expect(await check(missing, { answer: `${missing}\n\n${list}` })).toMatchObject({
      verdict: 'contradicted',
      note: '[9] does not exist among the sources: the answer lists 2, the agent saw 2',
    })
    const footnote = 'Refunds "are paid within 14 days to the card"[^a].'
    const answer = `${footnote}\n\n[^a]: Refund policy`
    expect(await verdictOf(footnote, { answer })).toBe('supported')
  })
})

describe('with `fetch`', () => {
  const page = `<article><p>The museum opened its doors in 1897.</p><p>${fees}</p></article>`
  const quoting = (url: string) =>
    `The page says "refunds are paid within 14 days to the card" (${url}).`

  test('a cited page supports a quote that was not seen', async () => {
    web.pages.set('shop.example.org', html(page))
    const url = web.urlOf('shop.example.org', '/refunds')
    const seen = [seenSource('nothing')]
    expect(await verdictOf(quoting(url), { seen })).not.toBe('supported')
    expect(web.received).toEqual([])
    const result = await check(quoting(url), { seen, options: { fetch: true } })
    expect(result).toMatchObject({ verdict: 'supported', method: 'quote' })
    expect(result.evidence).toMatchObject([{ kind: 'web', source: url }])
  })

  test('a page without the quote contradicts nothing: a script may show it', async () => {
    web.pages.set('shop.example.org', html('<p>Please enable JavaScript.</p>'))
    const url = web.urlOf('shop.example.org')
    const result = await check(quoting(url), { seen: [], options: { fetch: true } })
    expect(result).toMatchObject({ verdict: 'not_found' })
    expect(result.note).toContain('nor on the cited page')
  })

  test('cited addresses of a cluster, a cloud and the host are not fetched', async () => {
    for (const url of [
      'http://169.254.169.254/latest/meta-data',
      'http://10.0.0.1/refunds',
      'http://localhost:8080/refunds',
      'http://[::1]/refunds',
    ]) {
      const result = await check(quoting(url), { seen: [], options: { fetch: true } })
      expect([url, result.verdict]).toEqual([url, 'not_found'])
    }
    expect(web.received).toEqual([])
  })

  test('a URL that the agent wrote itself carries no data to its host', async () => {
    web.pages.set('shop.example.org', html(page))
    const secret = 'c2VjcmV0'.repeat(12)
    const paths = [`/?d=${secret}`, `/${secret}`, `/a/${'x.'.repeat(60)}`]
    for (const path of paths) {
      const url = web.urlOf('shop.example.org', path)
      const result = await check(quoting(url), { seen: [], options: { fetch: true } })
      expect(result.note).toContain('was not fetched')
      expect(web.received).toEqual([])
      const seen = [seenSource(`See ${url} for more.`)]
      await check(quoting(url), { seen, options: { fetch: true } })
      expect(web.received).toHaveLength(1)
      web.received.length = 0
    }
  })

  test('the limit of pages is kept', async () => {
    web.pages.set('shop.example.org', html(page))
    const urls = Array.from({ length: 9 }, (_, at) => web.urlOf('shop.example.org', `/${at}`))
    await check(`Refunds take three days: ${urls.join(' ')}`, {
      seen: [],
      options: { fetch: true, pages_max: 2 },
    })
    expect(web.received).toHaveLength(2)
  })
})

test('hostile sources are read in bounded time', async () => {
  const mb = 2 ** 18
  const hostile = [
    `{"a": "${'\\"'.repeat(mb / 2)}`,
    '['.repeat(mb),
    `[${'{"url":"https://a.example.com/","title":"x"},'.repeat(4_000)}{}]`,
    '[1] x\n'.repeat(mb / 6),
    'Source 1 '.repeat(mb / 9),
    `${'['.repeat(mb / 2)}1${']'.repeat(mb / 2)}`,
    `https://${'a'.repeat(mb)}`,
    '"'.repeat(mb),
  ]
  for (const text of hostile) {
    const started = performance.now()
    await check('It "stays closed all day" on public holidays [1], see https://a.example.com/.', {
      seen: [seenSource(text)],
    })
    expect([text.slice(0, 20), performance.now() - started < 3_000]).toEqual([
      text.slice(0, 20),
      true,
    ])
  }
}, 30_000)

test('hostile claims are read in bounded time', async () => {
  const size = 200_000
  for (const part of [
    '[',
    '[1',
    '[1,',
    '[^',
    '(Source: ',
    '"',
    '`',
    'according to ',
    'https://',
    '[1](',
    '1-',
  ]) {
    const started = performance.now()
    await check(part.repeat(size / part.length))
    expect([part, performance.now() - started < 2_000]).toEqual([part, true])
  }
}, 30_000)
