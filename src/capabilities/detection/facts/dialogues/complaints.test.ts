import { expect, test } from 'vitest'
import { complains } from './complaints.ts'

test.each([
  'I already told you: 4711.',
  'You already have my address.',
  'I’ve told you this before. It is the blue one.',
  'As I said, on Friday.',
  'Like I already mentioned, two adults',
  'I gave you that number earlier!',
  'Das habe ich Ihnen doch schon gesagt: 4711.',
  'Die Nummer habe ich bereits genannt.',
  'Wie gesagt, am Freitag.',
  'Je l’ai déjà dit.',
  'Comme je vous l’ai dit, vendredi.',
  'Je vous ai déjà donné le numéro, 4711.',
  'Ya te lo dije: el viernes.',
  'Ya se lo he dicho, 4711.',
  'Como le dije, dos adultos.',
  '我刚才说过,星期五。',
  '已经告诉你了:4711',
  'さっきも言いましたが、金曜日です。',
  '既にお伝えしました。',
])('a complaint: %s', (text) => {
  expect(complains(text)).toBe(true)
})

test.each([
  'I already have a box, so only the label please.',
  'I already have the small box.',
  'It is already dark here.',
  'Has it already shipped?',
  'She told me to ask you.',
  'I would like the one I said yes to.',
  'Ich habe schon eine Karte.',
  'Das Paket ist bereits da.',
  'Das ist doch gut.',
  'J’ai déjà une carte.',
  'Il est déjà tard.',
  'Ya tengo una caja.',
  'Ya dirán algo.',
  '我已经有一个盒子。',
  '刚才下雨了。',
  'もう箱があります。',
  'さっき届きました。',
])('no complaint: %s', (text) => {
  expect(complains(text)).toBe(false)
})
