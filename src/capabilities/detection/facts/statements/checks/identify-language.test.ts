import { expect, test } from 'vitest'
import { identifyLanguage } from './identify-language.ts'

test.each([
  ['De acuerdo. Que tenga buen día.', 'es'],
  ['Vale, le espero el lunes. Que tenga un buen día.', 'es'],
  ['De nada. Quedo a su disposición para lo que necesite.', undefined],
  ['Le detallo la factura de enero: consumo de 34 m³ y cuota fija de 8,40 €.', undefined],
  ['Tudo certo, a sua consulta está marcada para segunda-feira. Até lá!', 'pt'],
  ['Obrigado pela ligação. O pedido de hoje chega na quinta.', 'pt'],
  ['Va bene, la sua prenotazione è confermata per lunedì alle 10. A presto!', 'it'],
  ["C'est noté, votre rendez-vous est confirmé pour lundi à 10 h.", 'fr'],
  ['Uw afspraak is bevestigd voor maandag om 10 uur. Tot dan!', 'nl'],
  ['Ihr Termin ist für Montag um 10 Uhr bestätigt. Bis dann!', 'de'],
  ['Your appointment is confirmed for Monday at 10. See you then!', 'en'],
  ['Buenos días', undefined],
])('“%s” is in %s', (text, language) => {
  expect(identifyLanguage(text)).toBe(language)
})
