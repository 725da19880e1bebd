/** Words of one meaning in the texts of services, products, rules and reports; a line is a group. */
export const wordGroups = `
cost price fee charge rate pay payment tariff priced paid pays dearer expensive fare premium
free gratis complimentary waived nothing costless
buy purchase order acquire bought obtain
sell sold sale resell resold
refund reimburse repay refunded reimbursement payback
cancel cancellation terminate termination revoke quit
begin start commence launch starts began onset
end finish stop close expire ended closes ends until deadline
open opens opening
allow permit may can allowed permitted permission authorised
forbid forbidden prohibit prohibited ban banned disallow disallowed
require need must necessary required mandatory compulsory obligatory needed obliged
car vehicle automobile cars vehicles
bike bicycle cycle bikes
child kid children kids youngster
adult grown-up grownup
senior pensioner elderly
pupil student learner
employee staff worker personnel workforce employed employs
boss manager head chief director leader ceo
customer client user subscriber member policyholder
guest visitor visit tourist
doctor physician practitioner medic
drug medicine medication
illness disease condition sickness
hospital clinic ward
house home building flat apartment property
room chamber
big large great huge greatest biggest largest
small little tiny smallest
long length lengthy longest
wide width broad
high height tall altitude elevation highest tallest
deep depth deepest
heavy weight weigh weighs mass heavier
fast quick quickly rapid speed rapidly faster
old age aged older elder oldest
new latest recent newly current
early earlier before prior advance beforehand ahead
late later after afterwards subsequently following
increase rise grow raise rose grew growth up climb higher gain plus increased risen
decrease fall drop decline reduce cut lower fell down shrink reduction minus lowered decreased
change alter modify amend modification
repair fix mend repaired
break fault defect failure faulty broken defective malfunction
replace exchange substitute swap replacement
warranty guarantee guaranteed
insure insurance cover covered coverage insured
discount reduction rebate off cheaper reduced save saving
phone call telephone ring
email mail e-mail
letter post posted postal
send ship dispatch deliver sent delivery shipped shipment
parcel package packet
luggage baggage bag suitcase
plane aircraft flight fly flown
boat ship vessel ferry
train rail railway
trip journey travel tour voyage
leave depart departure
arrive arrival reach
ticket pass admission entry entrance
book reserve reservation booking booked
holiday vacation leave
wage salary earn pay income remuneration earnings
firm company business enterprise corporation
revenue turnover sales
profit earnings surplus
loan credit borrow lend borrowed
interest rate
account deposit
bill invoice
tax levy duty
law rule regulation statute legal
contract agreement
sign signature signed
court tribunal judge
vote ballot election voter
apply application applicant
form document paper certificate
proof evidence prove
photo picture image
screen display monitor
file document
computer machine pc
program software application app
version release edition
update upgrade updated
install installation setup fit installed fitted
delete remove erase removed deleted
default standard preset
limit maximum max cap ceiling most
minimum min least
mistake error
warning alert caution
password passphrase credential
storage disk memory
battery accumulator
charge recharge
electricity power current
energy power
heat warm hot heating
cold cool
rain wet
snow
wind breeze
river stream
lake reservoir
mountain peak summit hill
town city municipality
village hamlet
inhabitant resident population people live inhabitants
country nation state
border frontier
found establish set create founded establishment foundation
build construct construction built erected
win won victory champion winner
lose loss lost
match game fixture
team squad side
goal score scored point
school academy
teacher instructor
lesson class course
exam test assessment
grade mark
swim swimming bath
eat food meal
drink beverage
dog pet animal
doctor gp
test trial study
participant patient subject
effect impact
side adverse
dose dosage
twice double two
half halve fifty halved
third
quarter
once one
daily day everyday
weekly week
monthly month
yearly annual year annually
hour hourly
minute
weekend saturday sunday
weekday
morning
evening night
immediately instantly once straight
automatic automatically itself
manually hand
online web website internet
desk counter office
answer reply respond response
ask request demand inquire enquiry
help assist assistance support
show display indicate reveal
explain describe
contain include consist comprise hold inclusive included
keep retain store preserve kept
last remain endure
use utilise usage
share proportion percentage percent
average mean
amount sum total quantity
number count
part portion section
whole entire complete full
main chief primary principal major
extra additional further more surplus added
different other another
same identical equal alike
suitable appropriate fit
dangerous hazardous harmful danger risk
safe secure safety
public open
private personal
cause reason because due owing
happen occur take place
plan intend project planned
expect anticipate forecast expected
name call title named called
run operate running operates
hold carry
provide offer supply give
receive get obtain
own possess belong owner
invest investment spend spent
join enter enrol register registration
stay remain accommodation
rent hire lease rental
tenant lodger renter
landlord lessor
notice notification notify inform
lock block locked blocked suspend
bring take carry
wear dress
clean wash
water
garden yard park
tree plant
kill die death dead died
born birth
marry married wife husband
mother father parent
nobody none no
renew extend extension prolong renewal
delay late overdue
empty blank void
complain complaint
fine penalty
damage harm injury
lost missing
stolen theft steal
outside outdoor outdoors
inside indoor indoors within
minor underage
disabled wheelchair
native indigenous
grant subsidy funding fund
speak language
write written author wrote
read reading
paint painted painter
sing song music
museum gallery exhibition
kosten preis gebuhr betragen bezahlen zahlen
kostenlos gratis frei umsonst
kundigen kundigung
frist tage
verboten untersagt
erlaubt gestattet zulassig
prix cout tarif
gratuit
precio tarifa coste
`

/** Pairs of words of which one cannot stand for the other. */
export const wordOpposites = `
before after; earlier later; first last; minimum maximum; least most; increase decrease; rise fall;
rose fell; grew shrank; up down; higher lower; more less; more fewer; longer shorter; larger smaller;
bigger smaller; heavier lighter; cheaper dearer; cheaper expensive; faster slower; older younger;
oldest youngest; highest lowest; largest smallest; longest shortest; always never; all none;
all some; every some; allowed forbidden; permitted prohibited; may not; open closed; inside outside;
indoor outdoor; free paid; include exclude; included excluded; required optional; mandatory optional;
compulsory voluntary; automatic manual; automatically manually; start end; begins ends; arrive depart;
arrival departure; win lose; won lost; north south; east west; left right; male female; men women;
boys girls; mother father; husband wife; son daughter; brother sister; buyer seller; tenant landlord;
employer employee; morning evening; morning afternoon; day night; summer winter; spring autumn; weekday weekend;
old new; above below; over under; import export; upload download; enable disable; enabled disabled; on off;
hot cold; wet dry; full empty; public private; online offline; possible impossible; true false;
increased decreased; raised lowered; better worse; best worst; strong weak; gross net; monday tuesday;
january february; calendar working; single return; domestic foreign; internal external; national international;
temporary permanent; partly fully; partial complete; only also; adult child; both neither; unlimited limited;
january june; credit debit; sender recipient; lender borrower; supply demand; profit loss; minutes hours;
hours days; above less; below more; under more; first later; latest earliest; exceed below; days weeks; weeks months; months years; kilometres miles; euros dollars; percent points
`

/** Words that answers use freely; a claim hardly differs by them. */
export const lightWords = `
get give take make go come put let keep use want see know look find say tell way thing someone anyone
person case time much many few lot several various other another same such then now still just even well
too very really quite rather almost already yet again back away here there however therefore otherwise
instead besides moreover actually simply merely currently usually normally generally typically mostly
please note mind possible able must should shall might about around roughly approximately nearly
including like else alone altogether overall mean become being able course fact basically essentially
need count come stand though while since until once exactly precisely certain kind sort type bit
always only no not yes any none never doesn don isn won
`
