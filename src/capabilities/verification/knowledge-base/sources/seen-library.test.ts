import { expect, test } from 'vitest'
import type { SeenSource } from '../../contract.ts'
import { openSeenLibrary } from './seen-library.ts'

test('a page that a tool returned is read without tags, with its entities decoded', () => {
  const text = '<html><body><p>Die <b>Geb&uuml;hr</b> ist &minus;250&nbsp;EUR.</p></body></html>'
  const seen: SeenSource[] = [
    {
      ...{ role: 'tool', source: 'fetch', text, digest: '', is_complete: true },
      place: { trace_id: 't', observation_id: 'o' },
    },
  ]
  const library = openSeenLibrary(seen)
  const [passage] = library.find({ text: 'Die Gebühr ist −250 EUR.' })
  expect(passage?.text.trim()).toBe('Die Gebühr ist −250 EUR.')
  if (passage === undefined) throw new Error('no passage')
  const { quote, at } = library.cite(passage)
  expect(quote.trim()).toBe('Die Gebühr ist −250 EUR.')
  expect(text.slice(...(at ?? [0, 0]))).toContain('Geb&uuml;hr</b> ist &minus;250&nbsp;EUR.')
})
