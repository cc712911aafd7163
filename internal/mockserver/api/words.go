package api

// replyWords are common English words that are one token of o200k_base each when a space leads them.
// Their order is part of every reply: changing the list changes the text that a prompt gets.
const replyWords = `
able about above absent absolute accept accepts access accessed according action acts actual actually added
adding addition address adds affect after again against alias aligned alignment allocated allow allowed
allows almost alone along already also alternate although always ambiguous analysis analyzer another appear
appeared appears append applied applies apply approach arbitrary archive argument arguments arise array
arrays assembler assembly assigned assume assumed atomic attempt attribute available avoid away back base
based basic because become becomes been before begin beginning begins behaves behavior being below best
better between beyond binaries binary bits blank block body both branch break broken build building builds
built bypass cache cached call called caller calling calls cannot capacity case cases cause caused causes
causing certain change changed changes changing channel channels character check checking checks clean clear
client close code collect collected column come comes command commands comment comments commit common
compared compile compiled compiler complete complex component composite compound computed condition confused
consider consists constant constants construct contain contained contains content contents context continue
control converge convert converted copied copy correct correctly cost could count cover coverage covered
create created creates cross current currently custom cycle data decimal declare declared declares decode
default defaults defer deferred define defined defines delete denote denotes depend depending depends derived
described desired details detected determine diff differ different difficult digits direct directive directly
directory disable disabled distinct does done double down downgrade download drop dropping duplicate during
dynamic each earlier easily easy echo edge edges edit editing effect eight either element elements else embed
embedded emit empty enable enabled encoded encoding ends enough ensure entire entirely entries entry equal
evaluated even event events every exact exactly example examples except exception exchanged exclude excluded
execute executed executing execution exhibit exist existing exists exit exits expanded expect expected
explicit exponent exported expressed extension external extra fact false feature features fetch field fields
file files final find finding first five fixed fixes flag flags float floating follow followed following
follows force form format formatted former fossil found four frame free fresh from full fully function
functions future garbage gather general generally generate generated generic give given glass global going
good governed graph great greater greeting group hand handle handler happen happens hard hardware hash have
having header heading heap help hence here hidden high higher highest hold holds home host however identical
identify ignore ignored ignoring imaginary immediate implement implicit implies import important imported
importing imports include included includes including increase index indicate indicates indirect info initial
inline inner input inside install installed instance instead integer integers intended interface interfere
internal into introduce invalid invoke invoked issue item items iteration itself just keep keys kind know
known label laid language large larger last later latest latter lazy leading least leave left length less
letter letters level libraries library license like limit line lines link linked linker linking links list
listed listing lists literal literals little load loaded loading local localized location logic long longer
look looking looks lookup loop loops lose lower machine made main major make makes making manages manner many
maps markdown marked mask master match matched matches matching math matter maximum meaning means measured
mechanism meet memory message method methods middle might minimum missing mixed mixture mode modes modified
module modules more most move moved much multiple must name named names necessary need needed needs negative
neither nested never newer newline next none normal notation note nothing number numbers numeric object
objects observe observed obtaining occur occurs offset often older omitted once ones only open operand
operands operation operators opposite option optional options order ordering ordinary origin original other
others otherwise output outside over overlay override overwrite package packages pair pairs parallel
parameter parent parse parsed parsing part parts pass passed passes passing patch path paths pattern patterns
percent perhaps period permitted place placed places platform plus point pointer pointers points position
possible possibly power preceded preceding precision prefer prefix presence present preserve prevent previous
print printed prints prior proceed process produce produced produces producing profile program programs
proper properly proverb provide provided provides providing public query quickly quote race range rare rather
reach read reading reads ready real really reason receive received receiver record records redundant refer
reference referred refers reflect reflected register registers regular rejected rejects related relative
release relevant remain remaining remains remote remove removed removing repeated replace replaced replaces
report reported reports represent request requested require required requires reserved resolve resolved
respect rest result resulting results retract return returned returns reuse revision rewrite rewritten right
rights root round rule rules running runs safe safely said same sampler satisfy save saved scan scope script
second section security seed seem seems seen select selected selects self send sensible sent separate
separated sequence series server serves sets setting settings several share shared sharing shift short
shorter shorthand should show shown shows side signal signals signature signed similar simple simplify since
single size skip skipped slash slice slices slow small smaller some something sometimes soon sort sorted
source sources space spaces special specific specified specifies specify split square stack stale stamping
standard start started starting starts state statement static status step still stop stops store stored
stores stream string strings stronger strongly structure subject succeed succeeds such suffix suggested
support supported sure switch switching symbol symbols syntax system systems tagged tags take taken takes
taking target targets template temporary term terms test tested testing tests text than that their them then
there therefore these they thing things third this those though thread three through thus tidy time times
tiny together token tool tools total touch trace trailing transmit treated tree tried trimmed true truth
trying turn type types typical typically under uniform union unique unknown unless unsafe until unused
unusual update updated updates updating upgrade upgraded upgrades upgrading upon upper used useful useless
user users uses using usual usually valid value values variable variables variant various vector vendor
verify version versions very viewed visible volatile wait want warning ways well were what whatever when
where whereas whether which while whole whose width will windows with within without word work worker working
works world would write writes writing written wrong yellow yields your zero
`
