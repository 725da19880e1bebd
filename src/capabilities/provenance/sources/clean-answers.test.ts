import { expect, it } from 'vitest'
import { checkAnswer } from './check-answer.ts'
import { indexSeen } from './seen/seen-index.ts'

/**
 * Texts of a tool or a user, and right answers to them. What they calculate in several steps has no
 * source and is listed, but no value may be marked as one that was copied wrongly.
 */
const runs: readonly (readonly [seen: string, answer: string])[] = [
  // Sums, taxes, discounts, shares of a month.
  ['{"net":180,"shipping":12.5,"vat":0.19}', 'With VAT and shipping you pay €229.08.'],
  ['{"items":[{"p":1999},{"p":2450},{"p":799}],"currency":"usd"}', 'Together they cost $52.48.'],
  ['list price $240, coupon SAVE15 (15 %), then $10 off', 'You pay $194.00 at the till.'],
  ['rent 1200 EUR, moved out 10 March', 'You owe €387.10 for March.'],
  ['salary 54000 a year, from 15 June', 'Your first pay is €2,400.00.'],
  ['plan $30/month, upgraded to $75/month with 12 of 30 days left', 'You are charged $18.00 now.'],
  ['{"unit_amount":1250,"quantity":7,"tax":{"rate":8.875}}', 'The bill is $95.27 with tax.'],
  ['price 1190 incl. 19 % VAT', 'Net that is €1,000.00, with €190.00 VAT.'],
  ['loan 10000 at 5 % for 10 years', 'It grows to €16,288.95.'],
  ['loan 250000, 3.6 %, 25 years', 'The rate is €1,265.01 a month.'],
  ['revenue 2020: 4.2m, 2024: 6.9m', 'That is a CAGR of 13.2 %.'],
  ['users 1200 doubled every month for 6 months', 'Now there are 76,800 users.'],
  ['a pool of radius 4.5 m, 1.4 m deep', 'It holds 89,064 litres.'],
  ['deposit 800, broken lamp 45.90, cleaning 60', 'You get €694.10 back.'],
  ['fees: USD35, and USD85, of USD48500,', 'Of USD 48,500.00 you get USD 48,380.00.'],
  [':32A:260902EUR1234,56', 'We booked €1,234.56.'],
  ['{"amount":"1.234,56","cur":"EUR"}', 'It is EUR 1234.56.'],
  ["Total Fr. 1'234.50", 'You pay CHF 1,234.50.'],
  ['{"price_micros":4990000,"currency":"USD"}', 'It costs $4.99.'],
  ['{"amount_minor":123456,"exponent":2}', 'That makes €1,234.56.'],
  ['fare 64.00, child half, two adults and one child', 'The family pays €160.00.'],
  ['tip of 18 % on 86.40', 'Leave $15.55.'],
  ['120 kWh at 0.318, base 9.90', 'You pay €48.06.'],
  ['$42,195 in 2024 and $39,950 in 2023', 'That is $2,245 more.'],
  [
    'adult 24.50, child 12, pensioner 18',
    'Two adults, three children and one pensioner pay €103.00.',
  ],
  ['{"hourly":42.5,"hours":37.5}', 'The invoice is €1,593.75 before tax.'],
  ['{"price":89.9,"discount":0.2}', 'You pay €71.92.'],
  ['{"subtotal":64.5,"tax_rate":0.0825,"tip":10}', 'In total €79.82.'],
  ['{"gross":4200,"tax":812.4,"social":391.02}', 'Net you get €2,996.58.'],
  ['{"balance":-125.4,"deposit":500}', 'Afterwards you have €374.60.'],
  ['three nights at 129, breakfast 14 a person', 'For two people that is €471.00.'],
  ['{"shares":35,"bought":112.4,"now":127.95}', 'You gain $544.25.'],
  ['{"rate":1.0842,"amount_eur":250}', 'You receive $271.05.'],
  ['rent 950, deposit of three months', 'The deposit is €2,850.'],
  ['subscription 12.99, 1 year prepaid: two months free', 'A year costs €129.90.'],
  ['{"cpu":0.0416,"hours":730}', 'The instance costs $30.37.'],
  ['{"price":18.5,"qty":24,"bulk":0.05}', 'With the bulk price you pay $421.80.'],
  ['mileage 0.38, 412 km, parking 23.50', 'You are paid CHF 180.06.'],
  ['invoice 1840, paid 700 and 455.5', 'Open are €684.50.'],
  ['{"old":1480,"new":1595}', 'Over a year you pay €1,380 more.'],
  ['car 24900, residual 11200, 48 rates', 'Each rate is about €285.42 without interest.'],
  ['{"seats":40,"price":16.5,"sold":33}', 'Sold out it would bring €660.00, now €544.50.'],
  ['{"budget":15000,"spent":9372.18}', '€5,627.82 are left.'],
  ['{"pledged":37500,"backers":812}', 'That is €46.18 a backer.'],
  ['a wall of 5.2 m by 2.6 m, paint 8.9 a square metre', 'The paint costs €120.33.'],
  ['{"price":349,"instalments":4}', 'Four rates of €87.25.'],
  ['salary 48000, 13 rates', 'One is CHF 3,692.31.'],
  ['{"fee_bps":35,"volume":182000}', 'The fee is $637.00.'],
  ['{"ppm":412,"tonnes":18}', 'It costs €7,416.'],
  ['price 999, cashback 75, trade-in 180, shipping 4.99', 'In the end €748.99.'],
  ['{"lines":[{"p":12.5,"q":3},{"p":7.2,"q":5}]}', 'The order is €73.50.'],
  ['{"lines":[{"p":12.5,"q":3},{"p":7.2,"q":5}],"vat":19}', 'The order is €87.47 with VAT.'],
  ['bill 184.60, split by five, one paid 50', 'The other four owe €33.65 each.'],
  [
    '{"premium":318,"excess":250,"claim":1430}',
    'You are paid €1,180 and keep €862 after the premium.',
  ],
  // Averages, medians, groups.
  ['[329000,332000,240000,451000,338500]', 'The median is $332,000 and the mean $338,100.'],
  ['[{"p":329000},{"p":332000},{"p":240000},{"p":451000}]', 'The median is $330,500.'],
  ['scores: 71 74 75 80 92', 'The median is 75, the range 21, the mean 78.4.'],
  ['[{"c":"a","n":12018},{"c":"b","n":30511},{"c":"a","n":4402}]', 'Group a has 16,420.'],
  ['{"bytes":17179869184}', 'The disk has 16 GiB, or 17.18 GB.'],
  ['file of 73400320 bytes', 'The file has 70 MiB.'],
  ['{"p50":120,"p95":480,"n":12000}', 'About 600 requests took longer than 480 ms.'],
  ['12 of 480 failed', 'The error rate is 2.5 %, so 97.5 % passed.'],
  ['3 packs of 12 for 14.40', 'One costs €0.40.'],
  // Dates, times, zones.
  ['delivered 2026-09-18; returns within 30 days, refund 14 days later', 'By 1 November.'],
  ['{"created":1767225600}', 'It was made on 1 January 2026 at 00:00 UTC.'],
  ['{"ts":1770037323456}', 'The call was at 13:02 UTC on 2 February.'],
  ['RRULE:FREQ=WEEKLY;INTERVAL=2 from 20260908T183000', 'Next: 17 November and 1 December.'],
  ['2026-05-29, payment in 10 working days', 'It arrives by Friday, 12 June 2026.'],
  ['period ends 31 January, one month notice to the end of the month', 'You leave on 28 February.'],
  ['meeting 2026-03-10T16:00Z, you are in Tokyo', 'For you it is 1 a.m. on 11 March.'],
  ['departs 23:40, takes 7 h 55', 'It lands at 7:35.'],
  ['born 12 May 1984', 'You turn 42 on 12 May 2026.'],
  ['warranty 24 months from 3 July 2025', 'It lasts until 3 July 2027.'],
  ['week 2026-W23', 'That is 1 to 7 June.'],
  // Ids in other forms.
  ['{"card":"4242424242421234"}', 'The card …1234 is charged.'],
  ['{"iban":"DE44500105175407324931"}', 'To DE44 5001 0517 5407 3249 31.'],
  ['{"iban":"DE44500105175407324931"}', 'To the account ending in 4931 (DE44…4931).'],
  ['{"card":"4111111111111111"}', 'Your card 4111-1111-1111-1111 is stored.'],
  ['{"card":{"last4":"4417","brand":"visa"}}', 'Visa **** **** **** 4417.'],
  ['{"sha":"9f3c1ab77e0d4c2288"}', 'It is in 9f3c1ab.'],
  ['{"order":2291873,"prefix":"FJ"}', 'Your order is FJ-2291873.'],
  ['{"id":"ord_00048213"}', 'Your order is 48213.'],
  ['ticket INC0012345', 'See INC-12345.'],
  ['{"phone":"+46851790420"}', 'Call +46 8 517 904 20.'],
  ['tel. 08-517 904 20, Sweden', 'Call +46 8 517 904 20.'],
  ['(415) 555-0134', 'Call +1 415-555-0134.'],
  ['{"invoice":"INV-1041"}', 'The next one will be INV-1042.'],
  ['labels go from PL-3001, 10 pieces', 'Print PL-3001 to PL-3010.'],
  ['uuid 7c1f0e52-9b1d-4c7e-8b5f-20d7f1a6e8c3', 'Trace 7c1f0e529b1d4c7e8b5f20d7f1a6e8c3.'],
  ['{"vin":"WVWZZZ1JZXW000001"}', 'The VIN ends in 000001.'],
  ['isbn 9783161484100', 'ISBN 978-3-16-148410-0.'],
  ['src/app.ts\n12: import x\n21: export y', 'See src/app.ts:21 and src/app.ts:12.'],
  ['seats 12A free', 'Seat 12A is free, 12B is not.'],
  // Public names, standards, models.
  ['the tag needs a coin cell', 'A CR2032 has 3 V; an AA has 1.5 V; an LR44 is too small.'],
  ['a video', 'Export it as H.264 with AAC, or H.265; 1080p60 is enough.'],
  ['mail headers', 'See RFC 2616, RFC-7231 and ISO 8601, or ISO-27001.'],
  ['the plug', 'Use USB-C 3.2, a Cat6a cable, DIN A4 paper and M4x20 screws.'],
  ['address', 'IPv6 is on, over TLS1.3 with AES-256 and SHA-256.'],
  ['log4j 2.14.1', 'This is CVE-2021-44228; update to 2.17.1.'],
  ['ora error', 'ORA-12541 means that no listener runs; HTTP-429 is a limit.'],
  ['windows', 'Install KB5034441 or KB-5034441.'],
  ['a headset', 'The WH-1000XM5 and the RTX4090 are fine; so is GPT-4o or Llama-3.1.'],
  ['lamp', 'Take an E27 or GU10 bulb with IP65.'],
  ['node project', 'Node 22.11.0 is the LTS, Python 3.12.4 is fine too.'],
  // Addresses.
  ['{"base":"https://acme.example","id":48213}', 'See https://acme.example/orders/48213.'],
  ['python json', 'See https://docs.python.org/3/library/json.html.'],
  ['a form', 'The law is at https://www.gov.uk/guidance/form-p45.'],
  ['{"email":"Ana.LOPEZ@Lund.example"}', 'I wrote to ana.lopez@lund.example.'],
  ['Ana Lopez, domain lund.example', 'Her address would be ana.lopez@lund.example.'],
  ['our site is lund.example', 'Write to support@lund.example.'],
  // Quotations.
  ['The gate closes at noon on Sundays.', 'It says “the Gate closes at noon … Sundays”.'],
  ['The gate closes at noon on Sundays.', 'It says "The gate closes at noon".'],
  ['He wrote: We cannot ship before\nMonday, sorry.', 'He said “We cannot ship before Monday”.'],
  ['a late parcel', 'You could write: “We are sorry that your parcel is late again”.'],
  ['Die Türe bleibt zu.', 'The sign says “the door stays shut all the time”.'],
  ['{"text":"It\\u2019s \\"very\\" late now"}', 'The note says “It’s "very" late now”.'],
  ['terms: may be ended at any time', 'It says “[you] may [end it] at any time of the year”.'],
  // Roman numerals, ordinals, words.
  ['Chapter 14, volume 3', 'See chapter XIV of volume III, the 14th.'],
  ['founded 1898', 'It was founded in the 19th century, 128 years ago.'],
  ['12500 units', 'Twelve thousand five hundred, i.e. 12.5k.'],
  ['limit 2^16', 'At most 65,535 fit, in a day of 86,400 seconds.'],
  // Conversions.
  ['5.5 miles', 'That is 8.85 km or 8,851 m.'],
  ['{"temp_k":293.15}', 'It has 20 °C, or 68 °F.'],
  ['{"weight_g":2340}', 'It weighs 2.34 kg, or 5.16 lb.'],
  ['tank of 60 l at 1.799', 'To fill it costs €107.94.'],
  ['a run of 10.55 km in 52:10', 'You ran 4:57/km, at 12.1 km/h.'],
  // Names of things, links and quotations, as agents restate them.
  [
    '{"pod":"web-7d9c5b6f4-x2x9q","node":"ip-10-0-3-17"}',
    'Pod web-7d9c5b6f4-x2x9q runs on ip-10-0-3-17; restart with `kubectl rollout restart deploy/web-7d9c5b6f4`.',
  ],
  [
    '{"flight":"LX1840","gate":"A12","seat":"21C"}',
    'Flight LX 1840 leaves from A12. Seats 21C and 12C are by the aisle.',
  ],
  ['{"flights":["LH400","LH404"]}', 'LH 400 and LH 404; there is no LH440.'],
  ['{"pr":8860,"branch":"fix/ABC-1234-login"}', 'PR #8860 closes ABC-1234.'],
  ['{"issue":"ABC-1234"}', 'Create ABC-1235 as a follow-up?'],
  ['{"sku":"JKT-STORM-M-BLK"}', 'Order the JKT-STORM-L-BLK instead.'],
  ['{"skus":["TS-1001-S","TS-1001-M"]}', 'TS-1001-L is sold out.'],
  ['{"invoice":"2026-0417","customer":"K-10093"}', 'Invoice 2026/0417 of customer K10093.'],
  ['{"rooms":["R-101","R-102","R-110"]}', 'R-101 and R-110 are free, R-011 does not exist.'],
  ['{"ean":"4006381333931"}', 'EAN 4 006381 333931.'],
  ['{"postcode":"SW1A1AA"}', 'SW1A 1AA.'],
  ['{"vat":"DE129273398"}', 'VAT number DE 129 273 398.'],
  [
    '{"ip":"10.0.3.17","cidr":"10.0.0.0/16"}',
    'It is 10.0.3.17 in 10.0.0.0/16; the gateway is 10.0.0.1.',
  ],
  ['{"mac":"00:1B:44:11:3A:B7"}', 'MAC 00-1B-44-11-3A-B7.'],
  ['{"tracking":"00340434292135100186"}', 'Parcel 0034 0434 2921 3510 0186.'],
  ['{"swift":"CHASUS33XXX"}', 'BIC CHASUS33.'],
  [
    '{"lat":47.4123,"lon":8.5512}',
    'At 47.41° N, 8.55° E: https://www.openstreetmap.org/?mlat=47.4123&mlon=8.5512.',
  ],
  [
    '{"track_id":"1Z999AA10123456784","carrier":"UPS"}',
    'Follow it at https://www.ups.com/track?tracknum=1Z999AA10123456784.',
  ],
  ['{"video":"dQw4w9WgXcQ"}', 'Watch https://www.youtube.com/watch?v=dQw4w9WgXcQ.'],
  [
    '{"repo":"acme/pg-relay","tag":"v3.8.1"}',
    'https://github.com/acme/pg-relay/releases/tag/v3.8.1',
  ],
  ['{"doi":"10.1000/xyz123"}', 'See https://doi.org/10.1000/xyz123.'],
  [
    '{"url":"https://acme.dev/docs/setup.html"}',
    'See https://acme.dev/docs/ and https://acme.dev/docs/setup.',
  ],
  [
    '{"bucket":"acme-logs","key":"2026/09/app.log"}',
    'https://acme-logs.s3.eu-central-1.amazonaws.com/2026/09/app.log',
  ],
  [
    '{"org":"acme","project":"relay","id":8812}',
    'Board: https://dev.azure.com/acme/relay/_workitems/edit/8812',
  ],
  ['Customer says: it broke on day two!!', 'He said “it broke on day two”.'],
  [
    'The report states that revenue fell by 3 %, mainly because of the weather.',
    'It says "revenue fell by 3 %, mainly because of weather".',
  ],
  ['La porte reste fermée le dimanche.', 'The sign says “the gate stays closed on Sundays”.'],
  [
    '"msg":"Cannot read properties of undefined (reading \'id\')"',
    'It says "Cannot read properties of undefined (reading \'id\')".',
  ],
  ['error: ECONNREFUSED 127.0.0.1:5432', 'The log says "connect ECONNREFUSED 127.0.0.1:5432".'],
  [
    '<p>We <b>never</b> ship on&nbsp;Sundays or holidays.</p>',
    'The page says “We never ship on Sundays or holidays.”',
  ],
  [
    'We **never** ship on [Sundays](x) or holidays.',
    'The page says “We never ship on Sundays or holidays.”',
  ],
  [
    'line one of the\n   poem goes on\nand on forever',
    'It reads “line one of the / poem goes on / and on forever”.',
  ],
  [
    'The tenant must give notice in writing, at least three months before the end of the term.',
    'The contract says “must give notice in writing at least three months before the end”.',
  ],
  [
    'The tenant must give notice in writing.',
    'The contract says “the tenants must give a notice in writing”.',
  ],
  ['color: gray', 'She wrote: "The colour is grey" in her note on colour charts.'],
  [
    '{"reviews":[{"text":"Battery died after 2 weeks. Very sad."}]}',
    'One review says "Battery died after 2 weeks."',
  ],
  [
    'draft a mail about a late parcel to Ms Lund',
    'Here is a mail:\n\n> "Dear Ms Lund, we are sorry that your parcel is late."',
  ],
  ['write a post about our bakery', 'Post:\n\n> “Fresh bread every single morning in our bakery”'],
  ['{"policy":"no pets"}', 'In other words, the policy says "pets are not allowed in any policy".'],
  [
    '[{"id":1001},{"id":1002}]',
    'Items 1001 and 1002; ids up to 1999 are reserved for T-1001 to T-1999.',
  ],
  ['{"from":"A-2041","count":4}', 'These are A-2041, A-2042, A-2043 and A-2044.'],
  ['{"serial":"SN-00417"}', 'Serial 417 (SN-417).'],
  ['{"hex":"0x1F"}', '0x1F is 31; mask 0xFF00, color #1f2937.'],
  ['{"rgb":[31,41,55]}', 'The color is #1F2937.'],
  [
    '{"ts":"2026-09-03T12:41:05Z","id":"evt_1a2b3c4d5e"}',
    'Event evt_1a2b3c4d5e at 20260903T124105Z.',
  ],
  ['{"table":"orders_2025"}', 'Create orders_2026 and orders_2027 too.'],
  ['python 3.11', 'Use Python 3.12, numpy 1.26.4, cp312 wheels or py3-none-any.'],
  ['{"part":"BRK-4471-L"}', 'The right one is BRK-4471-R.'],
  ['{"iban":"NL02ABNA0123456789"}', 'IBAN NL02 ABNA 0123 4567 89.'],
  ['{"plate":"KR-TX 417"}', 'Car KR TX-417.'],
  ['{"phone":"0170 1234567"}', 'Call +49 170 1234567, or 112 in an emergency.'],
  ['our hotline: 0800 111 222 3', 'Call 08001112223.'],
  ['{"phone":"+1 (415) 555-0134 ext. 22"}', 'Dial +1 415 555 0134, then 22.'],
  ['{"case":"1 BvR 2656/18"}', 'In 1 BvR 2656/18, and Art. 20a GG.'],
  ['{"article":"§ 573c BGB"}', 'See § 573 BGB and § 575a.'],
  ['{"commit":"44ae9c8d0","files":["a.ts"]}', 'git revert 44ae9c8; see a.ts:12-21.'],
  ['error TS2345 at src/a.ts(12,5)', 'TS2345 is at src/a.ts:12:5; TS2322 is similar.'],
  ['a medicine', 'Take ATC code N02BE01, ICD-10 code J45.9 or S72-0012.'],
  ['tires 205/55 R16', '195/65 R15 fits too.'],
  ['{"asset":"LAP-0231","user":"mk"}', 'LAP-0231; the spare one is LAP-0213? No, there is none.'],
  ['{"model":"GSR12V-15"}', 'The GSR18V-55 is stronger.'],
  ['{"bus":"X51"}', 'Bus X51, then the S15 or U6.'],
  ['{"train":"ICE 1517"}', 'ICE 1517, RE 5, TGV 9571.'],
  ['{"route":"RT-0081"}', 'Route RT-81, RT0081.'],
  ['{"id":"b7f1c2e4-9d7a-4a51-8a3e-1f0c5d9e7a21"}', 'Run b7f1c2e4… (b7f1c2e4-9d7a).'],
]

/** Values that answers copy: without a source and without a doubt they are marked. */
const copied = /^(?:id|url|email|quote|version|weekday)$/

it.each(runs)('%s: %s', (seen, answer) => {
  const checked = checkAnswer(answer, indexSeen([{ source: 'tool', text: seen }]))
  const marked = checked.filter(
    ({ verdict, kind, doubt, instead }) =>
      verdict === 'other_subject' ||
      (verdict === 'unsupported' &&
        doubt === undefined &&
        (copied.test(kind) || instead !== undefined)),
  )
  expect(marked.map(({ value }) => value)).toEqual([])
})

it('of these right answers, at least a third of the values has a source, though they calculate a lot', () => {
  const checked = runs.flatMap(([seen, answer]) =>
    checkAnswer(answer, indexSeen([{ source: 'tool', text: seen }])),
  )
  const open = checked.filter(({ verdict }) => verdict === 'unsupported')
  const asked = checked.filter(({ verdict }) => verdict !== 'exempt')
  expect(open.length / asked.length).toBeLessThan(2 / 3)
})

/** Addresses of the user's own domains are copied to the letter, or they are marked. */
it.each([
  ['host api.acme.dev, region eu-1', 'Open https://api.acme.dev/v1/status.'],
  ['{"url":"https://acme.dev/docs/setup"}', 'Open https://acme.dev/docs/setup?lang=de.'],
  ['{"domain":"acme.dev","path":"/docs/setup"}', 'Open https://acme.dev/docs/setup.'],
  ['{"site":"acme.dev"}', 'You reach us at https://acme.dev/contact.'],
  ['user: John Smith; domain corp.example', 'j.smith@corp.example should work.'],
  ['{"mailbox":"hr@corp.example"}', 'Write to hr+leave@corp.example.'],
])('%s: %s is marked', (seen, answer) => {
  const [value] = checkAnswer(answer, indexSeen([{ source: 'tool', text: seen }]))
  expect(value).toMatchObject({ verdict: 'unsupported' })
  expect(value?.doubt).toBeUndefined()
})
