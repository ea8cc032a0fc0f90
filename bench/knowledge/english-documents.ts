import type { TrialDocument } from "./recall-trial.js";

/** Subjects overlap on purpose: three houses, three practices, three contracts, three shops and three town services. */
export const ENGLISH_DOCUMENTS: readonly TrialDocument[] = [
  {
    name: "harbour-hotel.md",
    text: `# Harbour Hotel
## Arrival and departure
Rooms are ready from three in the afternoon. Guests hand back their key card by eleven on the day they leave; a stay until two costs 25 euros more.
## Cancellation
A booking can be cancelled free of charge until six in the evening of the day before. After that the first night is charged in full.
## Cars
The underground garage has forty spaces at 18 euros a night, with two charging points for electric cars. Vans higher than two metres do not fit.
## Meals
The breakfast buffet opens at half past six and costs 16 euros for visitors who have not booked it. Children under six eat free.
## Animals
Dogs of any size may stay for 12 euros a night but are not allowed in the restaurant.`,
    questions: [
      ["I'm driving an electric car to the Harbour, can I plug it in there?", "charging points"],
      ["can we keep the room at the Harbour Hotel a bit longer on the last day", "stay until two"],
      [
        "what happens to my money if I call off the Harbour booking last minute",
        "first night is charged",
      ],
      ["is my Labrador welcome at the Harbour", "Dogs of any size"],
    ],
  },
  {
    name: "lakeside-inn.md",
    text: `# Lakeside Inn
## Arrival and departure
Check-in begins at two. Whoever arrives after nine in the evening finds the key in the safe beside the door; the code comes by text message. Check-out is at ten.
## Cancellation
Stays can be changed or cancelled up to seven days before arrival. Later on half of the price is due.
## Cars
Parking in front of the house is free, but spaces cannot be reserved. The nearest charger is at the village hall.
## Meals
Breakfast is brought to the room in a basket between eight and ten. Dinner is served on Fridays only and has to be ordered by noon.
## Boats
Two rowing boats and a canoe can be borrowed without charge. Life jackets hang in the boathouse and are compulsory for children.`,
    questions: [
      ["we get to the Lakeside very late at night, how do we get in", "key in the safe"],
      [
        "do I have to pay for leaving my car at the Lakeside",
        "Parking in front of the house is free",
      ],
      ["can we get an evening meal at the Lakeside Inn", "Dinner is served on Fridays"],
      ["is there something to go out on the water with", "rowing boats"],
    ],
  },
  {
    name: "station-hostel.md",
    text: `# Station Hostel
## Arrival and departure
The desk is staffed around the clock. Beds are free from one o'clock and have to be left by ten thirty.
## Luggage
Bags can stay in the locker room until midnight on the last day. A padlock can be bought at the desk for 5 euros.
## Sheets and towels
Linen is included. Towels are rented for 3 euros, against a deposit of 10 euros.
## Quiet
From eleven at night the common room is closed and music is switched off. Groups of more than eight need a written confirmation.
## Age
Guests under sixteen stay in family rooms with an adult; dormitories are for people from sixteen on.`,
    questions: [
      ["can I leave my backpack at the hostel after I check out", "locker room"],
      ["do I need to bring my own towel to the hostel", "Towels are rented"],
      ["my daughter is fourteen, may she sleep in a shared dorm", "Guests under sixteen"],
    ],
  },
  {
    name: "dental-practice.md",
    text: `# Bright Dental Practice
## Appointments
New patients fill in a health form and should come fifteen minutes early. A missed appointment that was not called off a day ahead costs 40 euros.
## Pain
Emergencies are seen between eight and nine every weekday without an appointment. At weekends the regional emergency service helps.
## Cleaning
A professional cleaning takes fifty minutes and costs 95 euros. Most insurers pay it once a year.
## After a tooth was removed
Do not rinse for a day, cool the cheek, and eat soft food. Smoking delays healing for a week.
## Children
The first visit is recommended when the first tooth appears. A parent stays in the room until the child is ten.`,
    questions: [
      [
        "my tooth hurts terribly, can I just walk in tomorrow morning at the dentist",
        "Emergencies are seen",
      ],
      ["will my insurance cover having my teeth polished", "professional cleaning"],
      ["they pulled one out yesterday, what may I eat", "eat soft food"],
      ["I forgot to show up at the dentist, do I owe something", "missed appointment"],
    ],
  },
  {
    name: "eye-clinic.md",
    text: `# Northgate Eye Clinic
## Appointments
Routine checks are booked six weeks ahead. Please bring your glasses and a list of your medicines.
## Drops
For some examinations the pupils are widened. You see blurred for four hours afterwards and must not drive yourself home.
## Cataract surgery
The operation takes twenty minutes under local anaesthetic. An adult has to collect you, and the eye is protected by a shield for the first night.
## Contact lenses
Take soft lenses out one day before a measurement, hard ones one week before.
## Sudden loss of sight
Come at once, at any time, through the emergency entrance in Mill Lane. Do not wait for an appointment.`,
    questions: [
      ["can I take the car back after the eye examination", "must not drive"],
      ["how long before my eye test should I stop wearing hard contacts", "hard ones one week"],
      ["suddenly I can't see anything on one side what shall I do", "Come at once"],
      ["who picks me up after the cataract operation", "An adult has to collect you"],
    ],
  },
  {
    name: "physiotherapy.md",
    text: `# Riverside Physiotherapy
## Appointments
A session lasts twenty-five minutes. Prescriptions have to be begun within twenty-eight days.
## Cancelling
Sessions can be moved free of charge up to twenty-four hours before. Later the fee of 32 euros is charged to you and not to the insurer.
## What to bring
Bring a large towel, sports clothes and your reports. Indoor shoes are needed for the gym.
## Exercise group
The back class meets on Tuesdays at six in the evening and takes twelve people. Ten evenings cost 110 euros.
## Home visits
The therapist comes to your house only if the doctor has marked it on the prescription.`,
    questions: [
      ["what clothes do I need for physio", "sports clothes"],
      ["can the therapist come round to my mother's place", "Home visits"],
      ["how long is my physio prescription good for before I start", "twenty-eight days"],
      ["is there a course for back problems", "back class"],
    ],
  },
  {
    name: "fibre-internet.md",
    text: `# Fibre internet
## Speeds
The small plan has 250 megabits, the large one 1,000. Upload is half of the download.
## Installation
A technician needs two hours and access to the cellar. The landlord's written consent is required before he comes.
## Outages
Switch the router off for one minute. If the light stays red after ten minutes, report it by telephone; credit is given for outages longer than a day.
## Ending the contract
It runs for twenty-four months and then goes on from month to month. Notice is one month.
## Moving house
Tell us six weeks before. If there is no fibre at the new address, you may end the contract with one month's notice.`,
    questions: [
      ["the lamp on my box is red and there is no web", "light stays red"],
      ["does my landlord have to agree before you put in the fibre", "landlord's written consent"],
      ["we are relocating to a street without fibre, can I get out", "no fibre at the new address"],
      ["how fast can I send files", "Upload is half"],
    ],
  },
  {
    name: "mobile-plan.md",
    text: `# Mobile plan
## Data
Ten gigabytes are included each month. When they are used up the speed falls to 64 kilobits; five more cost 6 euros.
## Abroad
In the European Union the plan works as at home. In Switzerland and Turkey a day pass for 4 euros is booked automatically.
## Lost phone
Block the card at once in the app or under 116 116. A replacement card costs 15 euros and arrives in two days.
## Keeping the number
The old number can be brought along. Give us the form before the old contract ends; the change happens at night.
## Ending the contract
There is no minimum term. Notice is four weeks to the end of a month.`,
    questions: [
      ["somebody stole my phone, how do I stop the card being used", "Block the card"],
      ["can I use my mobile on holiday in Turkey", "day pass"],
      ["I want to come over to you but with my present number", "old number can be brought"],
      ["my internet on the phone is super slow since yesterday", "speed falls"],
    ],
  },
  {
    name: "television.md",
    text: `# Television package
## Channels
The basic package has ninety channels, forty of them in high definition. Sports and films are extra packages of 9 euros each.
## Recording
The box keeps sixty hours. Programmes are deleted after ninety days even if they were not watched.
## Devices
Three screens can watch at the same time, in the home network or on the road.
## Remote control
Hold the green and the red key for five seconds to pair it anew. Batteries last about a year.
## Youth protection
A code of four digits is asked for before films for adults. It is sent by post and can be reset only in writing.`,
    questions: [
      ["my remote doesn't react any more", "green and the red key"],
      ["how many TVs can we watch on at once", "Three screens"],
      ["the show I taped in spring is gone", "deleted after ninety days"],
    ],
  },
  {
    name: "shoe-shop.md",
    text: `# Stride Shoes
## Returns
Unworn shoes can be returned within thirty days with the receipt. Shoes on sale are exchanged only.
## Sizes
Our own brand runs small: take half a size more. The staff measures children's feet without an appointment.
## Repairs
New heels take three days and cost 14 euros. Soles are glued or sewn by the cobbler on Thursdays.
## Gift cards
Cards are valid for three years. What is left after a purchase stays on the card; cash is not paid out.
## Waterproofing
Spray new leather twice before wearing it in the rain, and let it dry for six hours.`,
    questions: [
      ["can I bring back boots that were reduced", "exchanged only"],
      ["can you fix the heel on my pumps and how soon", "New heels"],
      ["is my voucher from two years ago still okay for shoes", "valid for three years"],
      ["do these run large or small", "runs small"],
    ],
  },
  {
    name: "furniture-store.md",
    text: `# Oak and Pine Furniture
## Delivery
Delivery to the kerb costs 49 euros, into the room 89 euros. You get a window of two hours the evening before.
## Assembly
Wardrobes and kitchens are put together by our fitters for a tenth of the price. The room has to be empty.
## Returns
Furniture that was made to measure cannot be given back. Everything else is fetched within fourteen days for 60 euros.
## Damage
Take a photograph before you unpack further and write within forty-eight hours. A spare part usually comes in a week.
## Old furniture
On delivery we take one old piece of the same kind along for 35 euros.`,
    questions: [
      ["will you carry the sofa up to our flat", "into the room 89"],
      ["the table top arrived scratched", "Take a photograph"],
      ["can your people take away my old mattress when they bring the new one", "one old piece"],
      ["do you build the wardrobe for us too", "put together by our fitters"],
    ],
  },
  {
    name: "electronics-warranty.md",
    text: `# Volt Electronics warranty
## Length
All devices have a warranty of two years, batteries of one year. The extension to five years must be bought within thirty days.
## What is not covered
Water damage, broken screens and devices that were opened by others are not covered.
## Repair
Send the device in its box with the number of the case. Repairs take ten working days; a loan device is available for telephones.
## Data
Back up and delete your data before you send anything in. The workshop resets every device.
## Refund
After two failed repairs you may ask for your money back or for a new device.`,
    questions: [
      ["my laptop fell in the bath, do you pay", "Water damage"],
      ["you tried to mend it twice already and it's broken again", "two failed repairs"],
      ["do I get a phone while mine is being fixed", "loan device"],
      ["will my photos still be there after the workshop", "resets every device"],
    ],
  },
  {
    name: "town-library.md",
    text: `# Town library
## Card
The card is free for people under eighteen and costs 20 euros a year for adults. Bring your identity card.
## Lending
Books stay four weeks, films one week. Loans are extended twice online unless somebody waits for them.
## Late fees
Each day costs 30 cents for each item. From 20 euros on the card is blocked.
## Rooms
Study rooms for up to six people can be booked for three hours. Food is not allowed, water is.
## Opening
The library is closed on Mondays. On Sundays the reading room is open from one to five without service.`,
    questions: [
      ["can I hang on to the novel a bit longer", "Loans are extended"],
      ["what do I pay for bringing back DVDs too late", "Late fees"],
      ["is there a room where our group can learn together", "Study rooms"],
    ],
  },
  {
    name: "swimming-pool.md",
    text: `# Swimming pool
## Prices
Adults pay 6 euros, children 3 euros. Ten tickets cost as much as eight. After seven in the evening everybody pays half.
## Lessons
Courses for beginners begin in January and September and take eight children from the age of five.
## Sauna
The sauna is for women only on Wednesdays. Swimwear is not worn; bring two towels.
## Rules
Long trousers are not allowed in the water. Children under seven need somebody of age with them.
## Closing
The pool is closed for maintenance in the first two weeks of August.`,
    questions: [
      ["is swimming cheaper late in the day", "everybody pays half"],
      ["my son is six, can he learn to swim with you", "Courses for beginners"],
      ["which day is the sauna without men", "women only"],
      ["are you open in the second week of August for swimming", "closed for maintenance"],
    ],
  },
  {
    name: "recycling-centre.md",
    text: `# Recycling centre
## What is free
Paper, glass, metal and old electrical devices are free for households. Bring proof of your address.
## What costs
Rubble costs 8 euros for each hundred litres, treated wood 5 euros. Car tyres are 4 euros each.
## Paint and chemicals
Poisonous waste is taken on the first Saturday of the month, up to twenty litres, in closed cans.
## Garden waste
Branches and leaves are taken from March to November, at most one cubic metre a day.
## Bulky goods
Furniture is collected from your pavement twice a year. Order it online four weeks before.`,
    questions: [
      ["where do I get rid of half-full tins of varnish", "Poisonous waste"],
      ["can someone pick up our old couch from the street", "collected from your pavement"],
      ["do I pay for dropping off a broken washing machine", "old electrical devices"],
      ["what's the price for worn wheels of my car", "Car tyres"],
    ],
  },
];
