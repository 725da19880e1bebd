import { expect, test } from 'vitest'
import { readAskedKeys, readFacts } from './values.ts'

const factsOf = (sentence: string) =>
  Object.fromEntries(readFacts(sentence).map(({ slot, value }) => [slot.slice(5), value]))

test('every fact of a sentence is read, with any spelling of e-mail', () => {
  expect(factsOf('My order number is 4711 and my email is kim@shop.test.')).toEqual({
    order: 'number:4711',
    email: 'email:kim@shop.test',
  })
  expect(factsOf('my confirmation is BW-99471 and my e-mail is greta@post.example')).toEqual({
    confirmation: 'code:bw-99471',
    email: 'email:greta@post.example',
  })
  expect(factsOf('Our deadline is March 3, our budget is 700 and my E-Mail is a@b.test')).toEqual({
    deadline: 'date:03-03',
    budget: 'number:700',
    email: 'email:a@b.test',
  })
  expect(readAskedKeys('Which e-mail address did you use, and the e-mail?')).toContain('email')
})

test('a measure is not a code', () => {
  expect(factsOf('The laptop is 15-inch.')).toEqual({})
  expect(factsOf('My plan is 3-day.')).toEqual({})
  expect(factsOf('My booking is 15-INCH-7.')).toEqual({ booking: 'code:15-inch-7' })
})

test('a named id is stated within a question, other values are not', () => {
  expect(factsOf('Hi, booking AN-3318, can I come one day later?')).toEqual({
    booking: 'code:an-3318',
  })
  expect(factsOf('Is my budget 700?')).toEqual({})
})

test('a name of two words', () => {
  expect(factsOf('Hello, this is Aurelie Kopp, I need a haircut')).toEqual({
    name: 'name:aurelie kopp',
  })
  expect(factsOf('Hello, this is urgent, I need a haircut')).toEqual({})
})
