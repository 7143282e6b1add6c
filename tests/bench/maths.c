/* The loops of tables/maths once more, in C: what bench_maths.py measures against. Built anew for each run. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SETS 1024
#define DEATH 2

/* --- the exact value: all pairs of sets, layer by layer -------------------------------------------------------- */

static int players[11][252], dealers[10][126], n_players[11], n_dealers[10];
static int player_place[SETS], dealer_place[SETS], low[SETS];
static double *layer_hit[10], *layer_value[11], *layer_due[10];

void prepare(void)
{
    for (int mask = 0; mask < SETS; mask++) {
        int size = __builtin_popcount(mask);
        low[mask] = mask ? __builtin_ctz(mask) + 1 : 0;
        player_place[mask] = n_players[size];
        players[size][n_players[size]++] = mask;
        if (!(mask >> DEATH & 1)) {
            dealer_place[mask] = n_dealers[size];
            dealers[size][n_dealers[size]++] = mask;
        }
    }
    for (int size = 0; size < 10; size++) {
        layer_hit[size] = malloc(sizeof(double) * n_players[size] * n_dealers[size]);
        layer_value[size] = malloc(sizeof(double) * n_players[size] * n_dealers[size]);
        layer_due[size] = malloc(sizeof(double) * n_players[size + 1] * n_dealers[size]);
    }
}

/* Two compositions: before the shoe is out (after `left` cards) and after. `limit` -1: best play. */
double solve(const int *unseen, const int *full, int left, int limit)
{
    for (int size = 9; size >= 0; size--) {
        const int *base = 2 * size + 1 < left ? unseen : full;
        int all = 0, width = n_dealers[size], next = size < 9 ? n_dealers[size + 1] : 0;
        for (int rank = 0; rank < 10; rank++)
            all += base[rank];
        double share = 1.0 / (all - 2 * size - 1);
        for (int p = 0; p < n_players[size + 1]; p++) {
            int mine = players[size + 1][p];
            for (int d = 0; d < width; d++) {
                int theirs = dealers[size][d];
                double total = 0;
                for (int rank = 0; rank < 10; rank++) {
                    int cards = base[rank] - (mine >> rank & 1) - (theirs >> rank & 1);
                    if (rank == DEATH || theirs >> rank & 1)
                        total += (double)cards * (rank + 1);
                    else
                        total += cards * layer_value[size + 1][p * next + dealer_place[theirs | 1 << rank]];
                }
                layer_due[size][p * width + d] = total * share;
            }
        }
        base = 2 * size < left ? unseen : full;
        all = 0;
        for (int rank = 0; rank < 10; rank++)
            all += base[rank];
        share = 1.0 / (all - 2 * size);
        for (int p = 0; p < n_players[size]; p++) {
            int mine = players[size][p];
            for (int d = 0; d < width; d++) {
                int theirs = dealers[size][d];
                double total = 0;
                for (int rank = 0; rank < 10; rank++) {
                    int cards = base[rank] - (mine >> rank & 1) - (theirs >> rank & 1);
                    if (mine >> rank & 1)
                        total -= (double)cards * (rank + 1);
                    else
                        total += cards * layer_due[size][player_place[mine | 1 << rank] * width + d];
                }
                double hit = total * share, fold = -low[mine | theirs];
                int folds = limit < 0 ? hit + 1e-12 < fold : -fold <= limit;
                layer_hit[size][p * width + d] = hit;
                layer_value[size][p * width + d] = size && folds ? fold : hit;
            }
        }
    }
    return layer_hit[0][0];
}

/* --- the simulation: the same dice, the same rounds ------------------------------------------------------------- */

typedef struct { uint64_t one, other; } Dice;

static uint64_t scrambled(uint64_t word)
{
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
    word = (word ^ word >> 27) * 0x94D049BB133111EBu;
    return word ^ word >> 31;
}

static inline uint64_t turned(uint64_t word, int by) { return word << by | word >> (64 - by); }

static inline uint64_t next(Dice *dice)
{
    uint64_t one = dice->one, other = dice->other, word = turned(one + other, 17) + one;
    other ^= one;
    dice->one = turned(one, 49) ^ other ^ other << 21;
    dice->other = turned(other, 28);
    return word;
}

static inline int draw(uint8_t *cards, int unseen, Dice *dice)
{
    uint64_t product = (next(dice) >> 32) * (uint64_t)unseen;
    if ((uint32_t)product < (uint32_t)unseen) {
        uint32_t least = (uint32_t)-unseen % (uint32_t)unseen;
        while ((uint32_t)product < least)
            product = (next(dice) >> 32) * (uint64_t)unseen;
    }
    int at = product >> 32, rank = cards[at];
    cards[at] = cards[unseen - 1];
    cards[unseen - 1] = rank;
    return rank;
}

static int in_play(const int *stacks, int seats, int dealer)
{
    int found = __builtin_popcount(dealer);
    for (int seat = 0; seat < seats; seat++)
        found += __builtin_popcount(stacks[seat]);
    return found;
}

static int refill(uint8_t *cards, int decks, const int *stacks, int seats, int dealer)
{
    int front = 0, back = 55 * decks;
    for (int rank = 0; rank < 10; rank++) {
        int out = dealer >> rank & 1;
        for (int seat = 0; seat < seats; seat++)
            out += stacks[seat] >> rank & 1;
        for (int card = 0; card < out; card++)
            cards[--back] = rank;
        for (int card = 0; card < (rank + 1) * decks - out; card++)
            cards[front++] = rank;
    }
    return front;
}

enum { FOLD, PAIR, DEALER_PAIR, DEATH_CARD, PUSH };

int64_t deal(uint64_t seed, int64_t rounds, int seats, int decks, int burn, int cut, int low_card,
             const uint8_t *folds, int64_t (*ends)[5][11], int64_t *totals)
{
    Dice dice = {scrambled(seed + 0x9E3779B97F4A7C15u), scrambled(seed + 0x3C6EF372FE94F82Au)};
    uint8_t cards[440];
    int stacks[6] = {0}, size = 55 * decks, unseen = refill(cards, decks, stacks, seats, 0), button = 0;
    int64_t refills = 0;
    for (int64_t round = 0; round < rounds; round++) {
        if (unseen - burn <= cut)
            unseen = size;
        memset(stacks, 0, sizeof stacks);
        int dealer = 0, alive = seats, total = 0, first = 0;
        for (int seat = 0; seat < seats; seat++) {
            if (unseen == burn) {
                unseen = refill(cards, decks, stacks, seats, dealer);
                refills++;
            }
            stacks[seat] = 1 << draw(cards, unseen--, &dice);
        }
        if (low_card) {
            first = -1;
            for (int step = 0; step < seats; step++) {
                int at = (button + step) % seats;
                if (first < 0 || stacks[at] < stacks[first])
                    first = at;
            }
            button = first + 1;
        }
        while (alive) {
            if (unseen == burn) {
                if (size - in_play(stacks, seats, dealer) <= burn) {
                    for (int seat = 0; seat < seats; seat++)
                        ends[seat][PUSH][0] += stacks[seat] != 0;
                    break;
                }
                unseen = refill(cards, decks, stacks, seats, dealer);
                refills++;
            }
            int rank = draw(cards, unseen--, &dice);
            if (rank == DEATH || dealer >> rank & 1) {
                for (int seat = 0; seat < seats; seat++)
                    ends[seat][rank == DEATH ? DEATH_CARD : DEALER_PAIR][rank + 1] += stacks[seat] != 0;
                total += alive * (rank + 1);
                break;
            }
            dealer |= 1 << rank;
            for (int step = 0; step < seats; step++) {
                int seat = first + step >= seats ? first + step - seats : first + step, stack = stacks[seat];
                if (!stack)
                    continue;
                int stuck = unseen == burn && size - in_play(stacks, seats, dealer) <= burn;
                if (stuck || folds[stack * SETS + dealer]) {
                    int cost = __builtin_ctz(stack | dealer) + 1;
                    ends[seat][FOLD][cost]++;
                    total -= cost;
                    stacks[seat] = 0;
                    alive--;
                    continue;
                }
                if (unseen == burn) {
                    unseen = refill(cards, decks, stacks, seats, dealer);
                    refills++;
                }
                rank = draw(cards, unseen--, &dice);
                if (stack >> rank & 1) {
                    ends[seat][PAIR][rank + 1]++;
                    total -= rank + 1;
                    stacks[seat] = 0;
                    alive--;
                } else {
                    stacks[seat] = stack | 1 << rank;
                }
            }
        }
        totals[10 * seats + total]++;
    }
    return refills;
}

/* --- games of standard cards: a fresh shoe each round ------------------------------------------------------------- */


void baccarat(uint64_t seed, int64_t rounds, const uint8_t *pile, int size, const uint8_t *draws, int64_t *counts)
{
    Dice dice = {scrambled(seed + 0x9E3779B97F4A7C15u), scrambled(seed + 0x3C6EF372FE94F82Au)};
    uint8_t cards[416];
    memcpy(cards, pile, size);
    for (int64_t round = 0; round < rounds; round++) {
        int player_1 = draw(cards, size, &dice), banker_1 = draw(cards, size - 1, &dice);
        int player_2 = draw(cards, size - 2, &dice), banker_2 = draw(cards, size - 3, &dice);
        counts[6] += (player_1 & 15) == (player_2 & 15);
        counts[7] += (banker_1 & 15) == (banker_2 & 15);
        int player = ((player_1 >> 4) + (player_2 >> 4)) % 10, banker = ((banker_1 >> 4) + (banker_2 >> 4)) % 10;
        int player_drew = 0, banker_drew = 0;
        int natural = player > 7 || banker > 7;
        if (!natural) {
            int left = size - 4, third = 10;
            if (player <= 5) {
                third = draw(cards, left--, &dice) >> 4;
                player = (player + third) % 10;
                player_drew = 1;
            }
            if (draws[11 * banker + third]) {
                banker = (banker + (draw(cards, left, &dice) >> 4)) % 10;
                banker_drew = 1;
            }
        }
        if (player > banker)
            counts[player_drew && player == 8 ? 2 : 1]++;
        else if (player < banker)
            counts[banker == 6 ? 4 : banker_drew && banker == 7 ? 5 : 3]++;
        else
            counts[0]++;
        counts[natural ? 28 + (player > banker) - (player < banker) : 17 + player - banker]++;
    }
}

void dragon_tiger(uint64_t seed, int64_t rounds, const uint8_t *pile, int size, int64_t *counts)
{
    Dice dice = {scrambled(seed + 0x9E3779B97F4A7C15u), scrambled(seed + 0x3C6EF372FE94F82Au)};
    uint8_t cards[416];
    memcpy(cards, pile, size);
    for (int64_t round = 0; round < rounds; round++) {
        int dragon = draw(cards, size, &dice), tiger = draw(cards, size - 1, &dice);
        counts[3] += dragon == tiger;
        dragon %= 13;
        tiger %= 13;
        counts[dragon > tiger ? 0 : tiger > dragon ? 1 : 2]++;
    }
}

void casino_war(uint64_t seed, int64_t rounds, const uint8_t *pile, int size, int64_t *counts)
{
    Dice dice = {scrambled(seed + 0x9E3779B97F4A7C15u), scrambled(seed + 0x3C6EF372FE94F82Au)};
    uint8_t cards[416];
    memcpy(cards, pile, size);
    for (int64_t round = 0; round < rounds; round++) {
        int seat = draw(cards, size, &dice), dealer = draw(cards, size - 1, &dice);
        if (seat != dealer) {
            counts[seat > dealer ? 0 : 1]++;
            continue;
        }
        seat = draw(cards, size - 2, &dice), dealer = draw(cards, size - 3, &dice);
        counts[seat == dealer ? 4 : seat > dealer ? 2 : 3]++;
    }
}

void three_card_poker(uint64_t seed, int64_t rounds, const uint8_t *pile, int size, const uint16_t *hands,
                      int qualifies, int64_t *counts)
{
    Dice dice = {scrambled(seed + 0x9E3779B97F4A7C15u), scrambled(seed + 0x3C6EF372FE94F82Au)};
    uint8_t cards[52];
    memcpy(cards, pile, size);
    for (int64_t round = 0; round < rounds; round++) {
        int place = draw(cards, size, &dice);
        place = place * 52 + draw(cards, size - 1, &dice);
        int seat = hands[place * 52 + draw(cards, size - 2, &dice)], kind = seat >> 10 & 7;
        counts[25 + kind]++;
        if (!(seat >> 13)) {
            counts[24]++;
            continue;
        }
        place = draw(cards, size - 3, &dice);
        place = place * 52 + draw(cards, size - 4, &dice);
        int theirs = hands[place * 52 + draw(cards, size - 5, &dice)] & 1023, mine = seat & 1023;
        counts[4 * kind + (theirs < qualifies ? 0 : mine > theirs ? 1 : mine == theirs ? 2 : 3)]++;
    }
}

static int worth(int rank) { return rank > 9 ? 10 : rank + 1; }

static int is_blackjack(int one, int two) { return (one == 0 && two >= 9) || (two == 0 && one >= 9); }

static int total_letter(const int64_t *letters, int hard, int aces)
{
    return letters[aces && hard <= 11 ? 22 + hard + 10 : hard];
}

/* The default options: six decks, four hands, doubles on any two cards, aces split once, 3:2, the dealer looks. */
void blackjack(uint64_t seed, int64_t rounds, const uint8_t *pile, int size, const int64_t *letters_of, int64_t *counts)
{
    Dice dice = {scrambled(seed + 0x9E3779B97F4A7C15u), scrambled(seed + 0x3C6EF372FE94F82Au)};
    uint8_t cards[416];
    memcpy(cards, pile, size);
    for (int64_t round = 0; round < rounds; round++) {
        int left = size, net = 0, hands = 1, waiting = 0, count = 0, stands = 0, totals[4], bets[4];
        int first = draw(cards, left--, &dice), up = draw(cards, left--, &dice);
        int second = draw(cards, left--, &dice), hole = draw(cards, left--, &dice);
        const int64_t *letters = letters_of + 54 * (up > 9 ? 9 : up);
        if (is_blackjack(up, hole) || is_blackjack(first, second)) {
            counts[80 + (is_blackjack(first, second) ? is_blackjack(up, hole) ? 0 : 15 : -10)]++;
            continue;
        }
        for (;;) {
            int hard = worth(first) + worth(second), aces = (first == 0) + (second == 0), bet = 1;
            int code = total_letter(letters, hard, aces);
            if (worth(first) == worth(second)) {
                int pair = letters[44 + worth(first) - 1];
                if (pair != 4)
                    code = pair;
                else if (hands < (first == 0 && hands > 1 ? 2 : 4)) {
                    hands++, waiting++;
                    second = draw(cards, left--, &dice);
                    continue;
                }
            }
            if (hands == 1 || first != 0) {
                if (code == 2 || code == 3) {
                    int card = draw(cards, left--, &dice);
                    hard += worth(card), aces += card == 0, bet = 2;
                } else {
                    while (code != 1 && code != 3) {
                        int card = draw(cards, left--, &dice);
                        hard += worth(card), aces += card == 0;
                        if (hard > 21)
                            break;
                        code = total_letter(letters, hard, aces);
                    }
                }
            }
            if (hard > 21)
                net -= 10 * bet, bet = 0;
            totals[count] = aces && hard <= 11 ? hard + 10 : hard, bets[count] = bet, stands += bet, count++;
            if (!waiting)
                break;
            waiting--;
            second = draw(cards, left--, &dice);
        }
        if (stands) {
            int hard = worth(up) + worth(hole), aces = (up == 0) + (hole == 0), total;
            while ((total = aces && hard <= 11 ? hard + 10 : hard) < 17) {
                int card = draw(cards, left--, &dice);
                hard += worth(card), aces += card == 0;
            }
            for (int hand = 0; hand < count; hand++)
                net += 10 * bets[hand] * (total > 21 || totals[hand] > total ? 1 : totals[hand] < total ? -1 : 0);
        }
        counts[161 * (hands > 1) + 80 + net]++;
    }
}
